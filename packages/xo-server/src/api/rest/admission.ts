import type { FastifyRequest } from "fastify";
import { XoError } from "@xo-server/model";
import type { Clock } from "../../clock.js";
import type { LimitHits, LimitName } from "../limit-hits.js";
import { outerOf } from "../outer.js";
import { Rates, toRateKey } from "../rates.js";
import { checkSameSite } from "./cross-site.js";

export interface AdmissionOptions {
  readonly maxRequestsPerSecond: number;
  readonly maxRequestsPerUserPerSecond: number;
  readonly hits: LimitHits;
  readonly clock: Pick<Clock, "now">;
}

/** Characters of a URL at most: filters are in it. */
const MOST_URL_CHARACTERS = 32_768;

/** What is asked of every request before anybody looks at what it wants. */
export class Admission {
  readonly #addresses: Rates;
  readonly #users: Rates;
  readonly #hits: LimitHits;

  constructor(options: AdmissionOptions) {
    const { clock, maxRequestsPerSecond, maxRequestsPerUserPerSecond } =
      options;
    this.#addresses = new Rates(maxRequestsPerSecond, clock);
    this.#users = new Rates(maxRequestsPerUserPerSecond, clock);
    this.#hits = options.hits;
  }

  /** @throws XoError TOO_MANY_REQUESTS, INVALID_REQUEST, FORBIDDEN */
  admit({ raw, url, method }: FastifyRequest): void {
    const { address, host } = outerOf(raw);
    this.#counting("request_rate_address", () => {
      this.#addresses.take(toRateKey(address), "one address");
    });
    this.#counting("url_size", () => {
      checkUrl(url);
    });
    checkSameSite(method, { ...raw.headers, host });
  }

  /** @throws XoError TOO_MANY_REQUESTS */
  admitUser(id: string | undefined): void {
    if (id === undefined) return;
    this.#counting("request_rate_user", () => {
      this.#users.take(id, "one user");
    });
  }

  #counting(limit: LimitName, check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#hits.count(limit);
      throw error;
    }
  }
}

function checkUrl(url: string): void {
  if (url.length > MOST_URL_CHARACTERS)
    throw new XoError("INVALID_REQUEST", {
      reason: `the URL has more than ${MOST_URL_CHARACTERS} characters`,
    });
}
