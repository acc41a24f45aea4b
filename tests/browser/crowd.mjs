// A pack with as many actors as wanted, all of them busy: each burns, heals and has a buff with a modifier.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RULES = `Kind: attribute_set
Name: Vitals
Attributes:
  - {Name: MaxHealth, DefaultBaseValue: 100, Category: Statistic}
  - {Name: Health, DefaultBaseValue: 100, Category: Resource, Clamping: {Min: 0, Max: MaxHealth}}
  - {Name: Speed, DefaultBaseValue: 5, Category: Statistic}
---
Kind: gameplay_effect
Name: GE_Thorns
DurationPolicy: Infinite
Period: {Period: 0.5}
Modifiers:
  - {Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -3}}
---
Kind: gameplay_effect
Name: GE_Mending
DurationPolicy: Infinite
Period: {Period: 0.7}
Modifiers:
  - {Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 4}}
---
Kind: gameplay_effect
Name: GE_Haste
DurationPolicy: Infinite
Modifiers:
  - {Attribute: Speed, Operation: Multiply, Magnitude: {Type: ScalableFloat, Value: 0.5}}
---
Kind: ability_set
Name: AS_Busy
Effects: [GE_Thorns, GE_Mending, GE_Haste]
---
Kind: gameplay_controller
OwnerActor: {ActorID: Walker, ActorType: NPC}
AttributeSets:
  - {Name: Vitals}
AbilitySets: [AS_Busy]
`;

// Writes the pack to a folder of its own; `remove` deletes it.
export function crowd(actors) {
  const folder = mkdtempSync(join(tmpdir(), "ugas-crowd-"));
  const place = join(folder, "crowd");
  const side = Math.ceil(Math.sqrt(actors));
  const placed = Array.from({ length: actors }, (_, i) => `  - {Controller: Walker, InstanceId: walker${i}, Position: [${(i % side) * 2 - side}, 0, ${Math.floor(i / side) * 2 - side}]}\n`);
  mkdirSync(place);
  writeFileSync(join(place, "pack.yaml"), "Name: crowd\nVersion: 1.0.0\n");
  writeFileSync(join(place, "rules.yaml"), RULES);
  writeFileSync(join(place, "scene.yaml"), `Kind: scene\nName: SC_Crowd\nPlacements:\n${placed.join("")}`);
  return { place, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
