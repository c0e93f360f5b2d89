import { setTimeout as pause } from "node:timers/promises";
import { pick, type Random } from "../faults/seeded-random.js";
import type { CountedLink } from "./counted-link.js";
import type { GroupMember, ServerGroup } from "./server-group.js";

export const FAULTS = [
  "kill",
  "freeze",
  "database",
  "requests",
  "answers",
  "clock",
] as const;
export type ServerFault = (typeof FAULTS)[number];

/** Longer than a lease of 2 s: others take over meanwhile. */
const FROZEN_MS = 3_500;
const CUT_MS = 2_500;

/** Servers with the links to their pool; what happens to them is random. */
export class FailingServers {
  readonly #group: ServerGroup;
  readonly #links: readonly CountedLink[];
  readonly #random: Random;
  readonly members: GroupMember[];

  constructor(
    group: ServerGroup,
    members: readonly GroupMember[],
    links: readonly CountedLink[],
    random: Random,
  ) {
    this.#group = group;
    this.members = [...members];
    this.#links = links;
    this.#random = random;
  }

  /** Resolves when the fault has ended and everything works again. */
  async fail(fault: ServerFault): Promise<void> {
    const i = this.#random(this.members.length);
    const { child } = this.members[i]!.program;
    switch (fault) {
      case "kill":
        await this.members[i]!.program.stop("SIGKILL");
        this.members[i] = await this.#group.start(i);
        return;
      case "freeze":
        child.kill("SIGSTOP");
        await pause(FROZEN_MS);
        child.kill("SIGCONT");
        return;
      case "database":
        await this.#group.postgres.kill();
        await pause(this.#random(1_500));
        await this.#group.postgres.start();
        return;
      case "requests":
      case "answers":
        this.#links[i]!.cut(fault);
        await pause(CUT_MS);
        this.#links[i]!.repair();
        return;
      case "clock":
        child.kill("SIGUSR2");
    }
  }

  /** The URL of any server, also of one that does not answer now. */
  get anyUrl(): string {
    return pick(this.#random, this.members).url;
  }
}
