import type { SimulatedPool } from "../../src/index.js";
import { formatToken } from "../../src/events/token.js";
import { exchange } from "./raw-client.js";
import { bodyOf, headOf, type Recording } from "./recordings.js";

const REF =
  /OpaqueRef:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Classes whose objects the recorder created again for each run. */
const classes = new Set(["VM", "VM_metrics"]);
const BEGINNING = "00000000000000000000,00000000000000000000";
const TOKEN = /\d{20},\d{20}/;

/** Sends recorded requests to a simulated pool, with the references that the pool gave instead of the recorded ones. */
export class Replay {
  readonly pool: SimulatedPool;
  readonly #refs = new Map<string, string>();
  /** The token before each exchange; an event.from asks from one of them. */
  #tokens: string[] = [];

  constructor(pool: SimulatedPool) {
    this.pool = pool;
  }

  /** What was `recorded` there is `here` in the pool. */
  alias(recorded: string, here: string): void {
    this.#refs.set(recorded, here);
  }

  translate(text: string): string {
    return text.replace(REF, (ref) => this.#refs.get(ref) ?? ref);
  }

  now(): string {
    const { generation, messageGeneration } = this.pool.database;
    return formatToken({ database: generation, messages: messageGeneration });
  }

  /**
   * @param prepare what happened between the recorded exchanges and was not recorded
   * @returns undefined when the answers agree, else where they part
   */
  async compare(
    recording: Recording,
    prepare: () => void,
  ): Promise<string | undefined> {
    const before = this.now();
    prepare();
    const answer = await exchange(
      this.pool.url,
      this.#request(recording, before),
    );
    this.#tokens = [...this.#tokens.slice(-1), before];
    this.#learn(bodyOf(recording.response), bodyOf(answer));
    const heads = [recording.response, answer].map((message) =>
      normalize(headOf(message)),
    );
    if (heads[0] !== heads[1]) return parting(heads[0]!, heads[1]!);
    const bodies = [recording.response, answer].map((message) =>
      normalize(bodyOf(message)),
    );
    return bodies[0] === bodies[1]
      ? undefined
      : parting(bodies[0]!, bodies[1]!);
  }

  /** The body keeps its length: references and tokens have one length. */
  #request({ request, name, method }: Recording, before: string): Buffer {
    let text = this.translate(request.toString("latin1"));
    const className = /method(?:Name>|": ?")(\w+)\./.exec(text)?.[1] ?? "";
    text = text.replace(REF, (ref) => this.#standIn(ref, className));
    if (method === "event.from" && !name.startsWith("token-")) {
      const token = name.startsWith("task-async") ? this.#tokens[0]! : before;
      text = text.replace(TOKEN, (recorded) =>
        recorded === BEGINNING ? recorded : token,
      );
    }
    return Buffer.from(text, "latin1");
  }

  /** Another recorder's object: the first of its class stands in for it. */
  #standIn(ref: string, className: string): string {
    const { database: db } = this.pool;
    if (ref.startsWith("OpaqueRef:0000") || !classes.has(className)) return ref;
    for (const table of db.tables()) if (table.rows.has(ref)) return ref;
    return [...db.refs(className)][0] ?? ref;
  }

  /** New references stand at the same places of both answers. */
  #learn(recorded: string, here: string): void {
    const there = recorded.match(REF) ?? [];
    const ours = here.match(REF) ?? [];
    if (there.length !== ours.length) return;
    there.forEach((ref, i) => {
      if (!this.#refs.has(ref)) this.#refs.set(ref, ours[i]!);
    });
  }
}

/** What must differ from one pool to another, made equal: identities, moments, generations, counts. */
export function normalize(text: string): string {
  return text
    .replace(
      /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
      "UUID",
    )
    .replace(/20\d{6}T\d\d:\d\d:\d\d/g, "DATE")
    .replace(/\d{20},\d{20}/g, "TOKEN")
    .replace(/content-length: \d+/gi, "content-length: N")
    .replace(/"id":"\d+","timestamp":"[\d.]+"/g, '"id":"N","timestamp":"N"')
    .replace(
      /<name>(id|timestamp)<\/name><value>[\d.]+</g,
      "<name>$1</name><value>N<",
    )
    .replace(/<i4>\d+<\/i4>/g, "<i4>N</i4>")
    .replace(/"valid_ref_counts":\{[^}]*\}/g, (counts) =>
      counts.replace(/:\d+/g, ":N"),
    )
    .replace(/trackid=[0-9a-f]{32}/g, "trackid=HASH")
    .replace(/\(\(\(process .*?\)\)\)/g, "()")
    .replace(/(memory_overhead\W+(?:name><value>)?)\d+/g, "$1N")
    .replace(/"bridge":"xapi\d+"/g, '"bridge":"xapiN"')
    .replace(/<value>xapi\d+</g, "<value>xapiN<");
}

function parting(real: string, simulated: string): string {
  let at = 0;
  while (at < real.length && real[at] === simulated[at]) at++;
  const from = Math.max(0, at - 60);
  return `real ${JSON.stringify(real.slice(from, at + 120))} simulated ${JSON.stringify(simulated.slice(from, at + 120))}`;
}
