import { XoError } from "@xo-server/model";
import { createParserPool } from "../../src/parser-pool.js";

const pool = createParserPool({ place: "main" });

export const seeds = [
  '0{"meta":{"start":0,"step":5,"end":10,"rows":2,"columns":1,"legend":["AVERAGE:host:h:cpu_avg"]},"data":[{"t":10,"values":[0.5]},{"t":5,"values":["NaN"]}]}',
  "0<xport><meta><start>0</start><step>5</step><end>10</end><rows>1</rows><columns>1</columns><legend><entry>AVERAGE:vm:v:cpu0</entry></legend></meta><data><row><t>5</t><v>1.0e-3</v></row></data></xport>",
  '1{"version":"0003","step":"5","lastupdate":"10","ds":[{"name":"cpu0","type":"GAUGE","last_ds":"1","value":"0","unknown_sec":"0"}],"rra":[{"cf":"AVERAGE","pdp_per_row":"1","params":{"xff":"0.5"},"cdp_prep":{"ds":[]},"database":[["0.5"],["NaN"]]}]}',
];

/** The first character selects `rrd_updates` (0) or the RRD of an object. */
export async function run(input: Buffer): Promise<void> {
  const body = [new Uint8Array(input.subarray(1))];
  try {
    if ((input[0] ?? 0) % 2 === 0) await pool.readXport(body, "fuzz");
    else await pool.readRrd(body, "fuzz");
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
  }
}
