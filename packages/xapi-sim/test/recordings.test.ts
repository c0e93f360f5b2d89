import t from "tap";
import { startPool, type SimulatedPool } from "../src/index.js";
import { fastClock } from "./support/fast-clock.js";
import { TestClient, exchange } from "./support/raw-client.js";
import {
  bodyOf,
  haveRecordings,
  headOf,
  readRecordings,
  recordedFleet,
  type Recording,
} from "./support/recordings.js";
import { Replay, normalize } from "./support/replay.js";
import { unrecorded } from "./support/unrecorded.js";

const skip = haveRecordings ? false : "the recordings are not here";

/** Why a recording says nothing about a simulated pool; the first that matches. */
const notApplicable: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/-handler-get_(blob|update_)/, "asks for credentials late"],
  [/-http-pipelined$/, "the recorder read one of two answers"],
  [/-(life|real|relation)-/, "shows xenopsd and the order of its work"],
  [/-mode-/, "another mode: see the tests below"],
  [/-console-/, "needs the recorder's consoles"],
  [/-handler-.*-(noauth|badsession)$/, ""],
  [/-handler-(bearer|export_metadata-basic-bad)$/, ""],
  [
    /-handler-((get_(export_raw_vdi|host_rrd|pool_xmldbdump|vncsnapshot|services|wlb|updates|host_updates|repository|sync)|put_(import_metadata|blob|messages)|connect_remotecmd).*-session|host_rrd|xmldbdump|export_metadata-ok|export-nodisk|export-with-task-record)/,
    "content of the recorder's pool, or a handler that is not simulated",
  ],
  [/-records-role-/, "the roles are not in the fixture"],
  [
    /-rbac-|-records-(secret|session|user|Certificate|Feature|GPU_group|VM_guest_metrics)-/,
    "another rig's objects",
  ],
  [
    /error-(pool-internal|plugin-missing|extension-missing)|token-other-session/,
    "the recorder's second host was down",
  ],
  [
    /records-after-destroy|task-task_get_all/,
    "objects of another recording session",
  ],
  [
    /event-(first-(all|mixed|vm|one)|token-(negative|unpadded|hex))|gzip-accepted|param-bool-1/i,
    "shows changes that were not recorded",
  ],
  [
    /event-(mod-three|mod-then-del|no-wakeup|logout|concurrent|mass|vm-destroy|next-(add|del)|message-first|register-bad)/,
    "its changes were not recorded: see events.test",
  ],
  [
    /task-.*(async|sync)-(fail|start|set|bool|void|clone)/,
    "depends on the recorder's hosts",
  ],
];

function reasonNotTo(recording: Recording): string {
  if (recording.body_end === "timeout") return "no answer came";
  const found = notApplicable.find(([pattern]) => pattern.test(recording.id));
  return found?.[1] ?? "";
}

async function recordedPool(
  recordings: readonly Recording[],
  members = 0,
): Promise<SimulatedPool> {
  return startPool({
    fleet: recordedFleet(recordings),
    password: "labpass",
    refusalMs: 0,
    clock: fastClock(10),
    members,
  });
}

/** The sessions that the recorder had made beforehand. */
async function aliasSessions(
  replay: Replay,
  recordings: readonly Recording[],
): Promise<void> {
  const known =
    /OpaqueRef:(c03e21ab|18dd08ce|f75b2975|abfd|9e13|1b2a|c9b3)[-0-9a-f]+/;
  for (const { request } of recordings) {
    const match = known.exec(request.toString("latin1"));
    if (match === null || replay.translate(match[0]) !== match[0]) continue;
    const client = new TestClient(replay.pool.url);
    await client.logIn("root", "labpass", "recorder");
    replay.alias(match[0], client.session);
  }
}

t.test("answers byte for byte as a real XAPI did", { skip }, async (t) => {
  const recordings = readRecordings();
  const replay = new Replay(await recordedPool(recordings));
  t.teardown(() => replay.pool.stop());
  await aliasSessions(replay, recordings);
  const left = new Map<string, number>();
  let agree = 0;
  for (const recording of recordings) {
    const reason = reasonNotTo(recording);
    if (reason !== "") {
      left.set(reason, (left.get(reason) ?? 0) + 1);
      continue;
    }
    if (recording.method === "system.listMethods") continue;
    const difference = await replay.compare(recording, () =>
      unrecorded(replay, recording),
    );
    if (difference === undefined) agree++;
    else t.fail(`${recording.id}: ${difference}`);
  }
  t.comment(`${agree} of ${recordings.length} agree; left out:`);
  for (const [reason, count] of left) t.comment(`${count}: ${reason}`);
  t.ok(agree > 500, "most recordings were compared");
});

t.test("a host that still boots answers as recorded", { skip }, async (t) => {
  const recordings = readRecordings();
  const pool = await recordedPool(recordings);
  t.teardown(() => pool.stop());
  pool.faults.set("booting", true);
  for (const { id, request, response } of recordings) {
    if (!/-mode-booting-|-mode-slavebooting-(?!host_rrd)/.test(id)) continue;
    const answer = await exchange(pool.url, request);
    t.equal(normalize(headOf(answer)), normalize(headOf(response)), id);
    t.equal(normalize(bodyOf(answer)), normalize(bodyOf(response)), id);
  }
});

t.test("a member sends clients to the coordinator", { skip }, async (t) => {
  const recordings = readRecordings();
  const pool = await recordedPool(recordings, 1);
  t.teardown(() => pool.stop());
  const address = (text: string): string =>
    normalize(text).replace(/192\.0\.2\.10|127\.0\.0\.1/g, "ADDRESS");
  for (const { id, request, response } of recordings) {
    if (!/-mode-slave-(?!login-thumbprint)/.test(id)) continue;
    const answer = await exchange(pool.urls[1]!, request);
    t.equal(address(headOf(answer)), address(headOf(response)), id);
    t.equal(address(bodyOf(answer)), address(bodyOf(response)), id);
  }
});

t.test("lists the methods that a real XAPI lists", { skip }, async (t) => {
  const recordings = readRecordings();
  const pool = await recordedPool(recordings);
  t.teardown(() => pool.stop());
  const recorded = recordings.find(({ id }) => id.startsWith("088-"))!;
  const names = async (answer: Buffer): Promise<string[]> =>
    (JSON.parse(bodyOf(answer)) as { result: string[] }).result.sort();
  const answer = await exchange(pool.url, recorded.request);
  t.same(await names(answer), await names(recorded.response));
});
