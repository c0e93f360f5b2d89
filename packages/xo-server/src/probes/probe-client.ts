import type { IncomingMessage } from "node:http";
import type { MonotonicClock } from "@xo-server/kit";
import type { LeaseOwner } from "@xo-server/store";
import type { Peer } from "../cluster/membership.js";
import type { Logger } from "../log/logger.js";
import { requestFromPeer } from "../peers/peer-request.js";
import {
  MAX_PROBE_BYTES,
  PROBE_PATH,
  type ProbeMessages,
} from "./probe-messages.js";
import type { PublicProbe } from "./public-probe.js";

interface ProbeClientOptions {
  readonly messages: Pick<ProbeMessages, "sealRequest" | "openAnswer">;
  readonly self: LeaseOwner;
  /** The other running servers, as of the last heartbeat. */
  readonly peers: () => readonly Peer[];
  readonly clock: MonotonicClock;
  readonly logger: Pick<Logger, "debug">;
}

/** A host, as `server.probe` names it. */
interface ProbedHost {
  readonly host: string;
  readonly proxy?: string;
}

/** What another server has found at a host. */
interface IndirectProbe extends PublicProbe {
  /** Name of that server. */
  readonly via: string;
}

/** Asks the other servers of the database for a host that this one does not reach. */
export class ProbeClient {
  readonly #options: ProbeClientOptions;

  constructor(options: ProbeClientOptions) {
    this.#options = options;
  }

  /** @returns the first answer of a server that reaches the host; undefined: none does. Never rejects */
  async probe(
    probed: ProbedHost,
    signal: AbortSignal,
  ): Promise<IndirectProbe | undefined> {
    const found = new AbortController();
    const signals = AbortSignal.any([signal, found.signal]);
    const asked = this.#options
      .peers()
      .map((peer) => this.#ask(peer, probed, signals));
    try {
      return await Promise.any(asked);
    } catch {
      // Each reason is in the log.
      return undefined;
    } finally {
      found.abort();
    }
  }

  /** @throws Error it does not reach the host either, or has not answered */
  async #ask(
    peer: Peer,
    probed: ProbedHost,
    signal: AbortSignal,
  ): Promise<IndirectProbe> {
    const { messages, self, clock, logger } = this.#options;
    const { answerId, sealed } = messages.sealRequest({
      ...probed,
      from: self.owner,
      to: peer.instance,
    });
    try {
      const request = { path: PROBE_PATH, sealed, clock, signal };
      const body = await readText(await requestFromPeer(peer, request));
      const answer = messages.openAnswer(body, answerId);
      if (answer === undefined) throw new Error("its answer is not authentic");
      if (!answer.isReachable) throw new Error(answer.problem);
      return { ...answer, via: peer.name };
    } catch (error) {
      const { message } = error as Error;
      if (!signal.aborted)
        logger.debug(
          `${probed.host} is not reached by server ${peer.name}: ${message}`,
        );
      throw error;
    }
  }
}

/** @throws Error the body is too long */
async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("latin1")) {
    text += chunk as string;
    if (text.length > MAX_PROBE_BYTES)
      throw new Error("its answer is too long");
  }
  return text;
}
