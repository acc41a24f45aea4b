//! Decides where a [`Request`] of an owning client runs: predicted on the client, on the server first, or on the client
//! only. Client and server use the same decision: the client to select the requests that it predicts or does not send,
//! the server to select the requests that it accepts.

use crate::message::Request;
use ugas_core::{AbilityId, ControllerId, InputId, Refusal, Sim};
use ugas_doc::NetExecution;

/// Returns the net execution policy of an ability.
pub(crate) fn execution(sim: &Sim, ability: AbilityId) -> NetExecution {
    sim.ability_doc(ability).map_or(NetExecution::default(), |doc| doc.net_execution)
}

/// Returns where a request runs: predicted by the client, on the server first, or on the client only. Returns
/// [`Refusal::Authority`] if a client may not send the request.
pub(crate) fn policy_of(sim: &Sim, request: &Request) -> Result<NetExecution, Refusal> {
    match *request {
        Request::Activate { ability, .. } | Request::Commit { ability, .. } | Request::Apply { ability, .. } => {
            allowed(execution(sim, ability))
        }
        Request::End { ability, .. } => {
            check_may_cancel(sim, ability)?;
            allowed(execution(sim, ability))
        }
        Request::Cancel { ability, .. } => cancel_policy(sim, ability),
        Request::Press { who, input, .. } => input_policy(sim, who, input),
        Request::Complete { key, .. } => {
            let tasks = sim.tasks(key.who)?;
            let Some(task) = tasks.iter().find(|t| t.key == key) else { return Ok(NetExecution::LocalPredicted) };
            match allowed(execution(sim, task.ability))? {
                // The answer to a task of a server-initiated ability is predicted: the client itself gives the answer.
                NetExecution::ServerInitiated => Ok(NetExecution::LocalPredicted),
                policy @ NetExecution::LocalPredicted
                | policy @ NetExecution::LocalOnly
                | policy @ NetExecution::ServerOnly => Ok(policy),
            }
        }
        // Only a predicted activation can have been mispredicted.
        Request::Mispredicted { ability, .. } => match execution(sim, ability) {
            NetExecution::LocalPredicted => Ok(NetExecution::LocalPredicted),
            NetExecution::LocalOnly | NetExecution::ServerInitiated | NetExecution::ServerOnly => {
                Err(Refusal::Authority)
            }
        },
        // A release activates abilities only if its action triggers at the release.
        Request::Release { who, input } if sim.rules().triggers_at_release(input) => input_policy(sim, who, input),
        Request::Axis { who, input, .. } => input_policy(sim, who, input),
        Request::Release { .. } | Request::LetGo { .. } | Request::Move { .. } | Request::Aim { .. } => {
            Ok(NetExecution::LocalPredicted)
        }
    }
}

/// Returns whether the server runs a request with this policy for a client.
pub(crate) fn is_for_server(policy: NetExecution) -> bool {
    match policy {
        NetExecution::LocalPredicted | NetExecution::ServerInitiated => true,
        NetExecution::LocalOnly | NetExecution::ServerOnly => false,
    }
}

fn allowed(policy: NetExecution) -> Result<NetExecution, Refusal> {
    match policy {
        NetExecution::ServerOnly => Err(Refusal::Authority),
        other @ NetExecution::LocalPredicted
        | other @ NetExecution::LocalOnly
        | other @ NetExecution::ServerInitiated => Ok(other),
    }
}

/// Checks that a client may cancel or end an ability.
fn check_may_cancel(sim: &Sim, ability: AbilityId) -> Result<(), Refusal> {
    let is_forbidden = sim.ability_doc(ability).is_some_and(|doc| doc.client_may_cancel == Some(false));
    if is_forbidden { Err(Refusal::Authority) } else { Ok(()) }
}

/// Returns where a cancel runs. A client may cancel its abilities unless `client_may_cancel` is false. If only the
/// server may activate the ability, the server runs the cancel first.
fn cancel_policy(sim: &Sim, ability: AbilityId) -> Result<NetExecution, Refusal> {
    check_may_cancel(sim, ability)?;
    Ok(match execution(sim, ability) {
        NetExecution::ServerOnly => NetExecution::ServerInitiated,
        other @ NetExecution::LocalPredicted
        | other @ NetExecution::LocalOnly
        | other @ NetExecution::ServerInitiated => other,
    })
}

/// Returns the strictest policy among the abilities bound to an input, since the press may activate any of them.
fn input_policy(sim: &Sim, who: ControllerId, input: InputId) -> Result<NetExecution, Refusal> {
    let grants = sim.grants(who)?;
    let bound = grants.iter().filter(|g| g.input == Some(input));
    let mut strictest = NetExecution::LocalPredicted;
    for grant in bound {
        let policy = allowed(execution(sim, grant.ability))?;
        if policy == NetExecution::LocalOnly || strictest == NetExecution::LocalPredicted {
            strictest = policy;
        }
    }
    Ok(strictest)
}
