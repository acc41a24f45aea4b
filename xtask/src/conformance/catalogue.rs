//! The requirement catalogues.
//!
//! The two files have the same format. The matrix groups the requirements of the first file by area. It lists all
//! requirements of the second file in one section, `beyond`, because they use the same areas and would change the
//! totals.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The name of the section that contains the second catalogue.
pub(crate) const BEYOND: &str = "beyond";

const FILES: [(&str, Option<&str>); 2] =
    [("conformance/requirements.yaml", None), ("conformance/requirements-beyond.yaml", Some(BEYOND))];

/// One requirement as its catalogue states it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Requirement {
    pub(crate) id: String,
    /// MUST, SHOULD, MAY or FEATURE.
    pub(crate) level: String,
    /// The section of the matrix.
    #[serde(rename = "area")]
    pub(crate) section: String,
    pub(crate) text: String,
}

/// All requirements, in catalogue order.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    requirements: Vec<Requirement>,
    by_id: BTreeMap<String, usize>,
}

impl Catalogue {
    /// Reads both files.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut catalogue = Self::default();
        for (file, section) in FILES {
            let text = std::fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {file}"))?;
            catalogue.add(&text, section).with_context(|| format!("in {file}"))?;
        }
        Ok(catalogue)
    }

    /// Adds the requirements of one file. If `section` is given, all of them are added to that section.
    pub(crate) fn add(&mut self, text: &str, section: Option<&str>) -> Result<()> {
        let read: Vec<Requirement> = serde_saphyr::from_str(text).context("not a list of requirements")?;
        for mut requirement in read {
            if let Some(section) = section {
                section.clone_into(&mut requirement.section);
            }
            if self.by_id.insert(requirement.id.clone(), self.requirements.len()).is_some() {
                bail!("requirement {} is stated twice", requirement.id);
            }
            self.requirements.push(requirement);
        }
        Ok(())
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.requirements.len()
    }

    /// Returns the sections in order of first appearance, each with its requirements in catalogue order.
    pub(crate) fn sections(&self) -> Vec<(&str, Vec<&Requirement>)> {
        let mut sections: Vec<(&str, Vec<&Requirement>)> = Vec::new();
        for requirement in &self.requirements {
            match sections.iter_mut().find(|(name, _)| *name == requirement.section) {
                Some((_, members)) => members.push(requirement),
                None => sections.push((&requirement.section, vec![requirement])),
            }
        }
        sections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_and_flow_maps_are_read_the_same() {
        let mut catalogue = Catalogue::default();
        let block = "- id: T-1\n  level: MUST\n  area: tags\n  text: 'Colon: inside'\n  check: x\n\
                     - id: T-2\n  level: MAY\n  area: effects\n  text: plain\n  check: y\n\
                     - id: T-3\n  level: MAY\n  area: tags\n  text: plain\n  check: y\n";
        let flow = "# note\n- {id: B-1, level: MUST, area: tags, text: \"a, b: c\", check: \"d\"}\n";
        catalogue.add(block, None).unwrap();
        catalogue.add(flow, Some(BEYOND)).unwrap();
        let sections: Vec<_> = catalogue
            .sections()
            .iter()
            .map(|(name, members)| (name.to_string(), members.iter().map(|r| r.id.clone()).collect::<Vec<_>>()))
            .collect();
        assert_eq!(
            sections,
            [
                ("tags".to_owned(), vec!["T-1".to_owned(), "T-3".to_owned()]),
                ("effects".to_owned(), vec!["T-2".to_owned()]),
                (BEYOND.to_owned(), vec!["B-1".to_owned()]),
            ]
        );
        assert!(catalogue.contains("B-1") && !catalogue.contains("B-2"));
        assert_eq!(catalogue.len(), 4);
    }

    #[test]
    fn an_id_stated_twice_is_an_error() {
        let line = "- {id: B-1, level: MUST, area: tags, text: a, check: d}\n";
        let error = Catalogue::default().add(&format!("{line}{line}"), None).unwrap_err();
        assert!(error.to_string().contains("B-1"), "{error}");
    }

    #[test]
    fn the_catalogues_in_the_tree_are_readable() {
        let catalogue = Catalogue::read(&crate::repo::root().unwrap()).unwrap();
        assert!(catalogue.len() > 700);
    }
}
