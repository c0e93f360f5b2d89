import type { Logger } from "@xo-server/kit";
import type { TransportName } from "./options.js";
import { jsonInXmlTransport } from "./transports/json-in-xml.js";
import { jsonRpcTransport } from "./transports/json-rpc.js";
import type { Transport } from "./transports/transport.js";
import { xmlRpcTransport } from "./transports/xml-rpc.js";

/** All transports, best first. */
export const transports: readonly Transport[] = [
  jsonRpcTransport,
  jsonInXmlTransport,
  xmlRpcTransport,
];

/** Selects the transport for a pool. */
export class TransportChoice {
  readonly #configured: "auto" | TransportName;
  #selected: Transport | undefined;

  constructor(configured: "auto" | TransportName) {
    this.#configured = configured;
  }

  /** Transports to try, in order: the selected one, or all, best first. */
  candidates(): readonly Transport[] {
    if (this.#configured !== "auto")
      return transports.filter(({ name }) => name === this.#configured);
    return this.#selected === undefined ? transports : [this.#selected];
  }

  /** The pool supports this transport. */
  select(transport: Transport, logger: Logger, label: string): void {
    if (this.#selected === transport) return;
    this.#selected = transport;
    if (this.#configured === "auto" && transport !== transports[0])
      logger.warn(
        `${label}: the pool does not support ${transports[0]!.name}, falling back to ${transport.name}`,
      );
  }

  /** Starts with the best transport again: the pool may have been upgraded. */
  reset(): void {
    this.#selected = undefined;
  }
}
