// The page's modules for Node: tests compare what they compute with the command line, and the measurements time the same run without a browser.

export { Engine } from "./engine/engine";
export { fromHash, toHash } from "./model/address";
export { defaults, find } from "./model/catalogue";
export { changed, differences, inWords } from "./model/changes";
export { CLAIMS, OF_PAPERS } from "./model/claims";
export { knownIn, ofFlows, ofGroups } from "./model/colours";
export { groupsOf, packetsByGroup } from "./model/groups";
export { summarise } from "./model/numbers";
export { problemOf } from "./model/problems";
export { fromToml } from "./model/reading";
export { toToml } from "./model/scenario";
export { SCENES } from "./model/scenes";
export { chosen, path, setting } from "./model/setting";
export { specify, withInside } from "./model/specification";
export { DIMENSIONS, parse } from "./model/units";
export { load } from "./own/hooks";
export { TEMPLATE } from "./own/template";
