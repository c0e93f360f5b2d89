import type { WallClock } from "@xo-server/kit";
import type { FastifyRequest } from "fastify";
import { XoError } from "@xo-server/model";
import type { LimitHits, LimitName } from "../../../limits/limit-hits.js";
import { RateLimits, toRateKey } from "../../../limits/rate-limits.js";
import { checkSameSite } from "../../authentication/cross-site.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route accepts forms that a page of another site posts. It must not trust cookies. */
    readonly acceptsOtherSites?: boolean;
  }
}

interface AdmissionOptions {
  readonly maxRequestsPerSecond: number;
  readonly maxRequestsPerUserPerSecond: number;
  readonly hits: LimitHits;
  readonly clock: Pick<WallClock, "now">;
}

/** Maximum length of a URL, in characters. Filters are part of the URL. */
const MAX_URL_LENGTH = 32_768;

/** Rate limits, URL length and origin check of every request, before authentication. */
export class Admission {
  readonly #addresses: RateLimits;
  readonly #users: RateLimits;
  readonly #hits: LimitHits;

  constructor(options: AdmissionOptions) {
    const { clock, maxRequestsPerSecond, maxRequestsPerUserPerSecond } =
      options;
    this.#addresses = new RateLimits(maxRequestsPerSecond, clock);
    this.#users = new RateLimits(maxRequestsPerUserPerSecond, clock);
    this.#hits = options.hits;
  }

  /** @throws XoError TOO_MANY_REQUESTS, INVALID_REQUEST, FORBIDDEN */
  admit(request: FastifyRequest): void {
    const { raw, url, method, clientAddress, routeOptions } = request;
    const { address, host } = clientAddress;
    this.#counting("request_rate_address", () => {
      this.#addresses.take(toRateKey(address), "one address");
    });
    this.#counting("url_size", () => {
      checkUrl(url);
    });
    if (routeOptions.config.acceptsOtherSites === true) return;
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
  if (url.length > MAX_URL_LENGTH)
    throw new XoError("INVALID_REQUEST", {
      reason: `the URL has more than ${MAX_URL_LENGTH} characters`,
    });
}
