import { callXapi } from "../harness/call-xapi.js";
import type { PoolAddress } from "../harness/simulator.js";

/** The VMs of a simulated pool, changed by XAPI's own calls. */
export class SimulatedVms {
  readonly #url: string;
  readonly #session: string;
  readonly #refs: readonly string[];

  static async open({
    url,
    user,
    password,
  }: PoolAddress): Promise<SimulatedVms> {
    const session = (await callXapi(url, "session.login_with_password", [
      user,
      password,
      "2.21",
      "xo-bench",
    ])) as string;
    const filter =
      'field "is_a_template" = "false" and field "is_control_domain" = "false" and field "is_a_snapshot" = "false"';
    const records = (await callXapi(url, "VM.get_all_records_where", [
      session,
      filter,
    ])) as object;
    return new SimulatedVms(url, session, Object.keys(records));
  }

  private constructor(url: string, session: string, refs: readonly string[]) {
    this.#url = url;
    this.#session = session;
    this.#refs = refs;
  }

  /** @param index of any VM */
  async describe(index: number, text: string): Promise<void> {
    const ref = this.#refs[index % this.#refs.length]!;
    await callXapi(this.#url, "VM.set_name_description", [
      this.#session,
      ref,
      text,
    ]);
  }
}
