import assert from "node:assert/strict";
import { test } from "node:test";
import { path, setting } from "../model/setting";
import { Data } from "./data";

test("what all flows got together at one time is known, also where it is more than the bottleneck carries", () => {
  const data = new Data(setting([path("first hop", "cubic", 1, 20e9), path("second hop", "cubic", 1, 20e9)]), {});
  const samples = {
    "flow_series.time": new Float64Array([0, 0, 1, 1, 2, 2]),
    "flow_series.flow": new Float64Array([0, 1, 0, 1, 0, 1]),
    "flow_series.cwnd": new Float64Array(6),
    "flow_series.bytes_received": new Float64Array([0, 0, 2e6, 1e6, 4e6, 3.5e6]),
  };
  data.add({ samples, names: [], red: null });
  const { bands, most } = data.shares();
  assert.deepEqual(
    bands.map(({ rates }) => rates),
    [
      [16, 16],
      [8, 20],
    ],
  );
  assert.equal(most, 36);
});
