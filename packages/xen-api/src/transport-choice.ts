import type { Logger } from "./logger.js";
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

/** Which transport a pool is spoken to with. */
export class TransportChoice {
  readonly #configured: "auto" | TransportName;
  #selected: Transport | undefined;

  constructor(wanted: "auto" | TransportName) {
    this.#configured = wanted;
  }

  /** Transports to try, in order: the one that worked, or the best first. */
  candidates(): readonly Transport[] {
    if (this.#configured !== "auto")
      return transports.filter(({ name }) => name === this.#configured);
    return this.#selected === undefined ? transports : [this.#selected];
  }

  /** The pool speaks this one. */
  select(transport: Transport, logger: Logger, label: string): void {
    if (this.#selected === transport) return;
    this.#selected = transport;
    if (this.#configured === "auto" && transport !== transports[0])
      logger.warn(
        `${label}: the pool does not speak ${transports[0]!.name}, falling back to ${transport.name}`,
      );
  }

  /** The pool may have been upgraded: begin with the best again. */
  reset(): void {
    this.#selected = undefined;
  }
}
