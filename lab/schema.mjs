// What the page needs of the schema: the keys of a dumbbell. What there is to choose from says the catalogue.

import { readFileSync } from "node:fs";

const TABLES =
  "Network Link Drop Dumbbell Bottleneck Change Aggregation Reverse Host Impairments Policer Flows Arrivals Probe".split(" ");
const { $defs, ...scenario } = JSON.parse(readFileSync(new URL("../docs/scenario.schema.json", import.meta.url), "utf8"));

export const SCHEMA = { Scenario: scenario, ...Object.fromEntries(TABLES.map((name) => [name, $defs[name]])) };
