import { randomBytes } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Config } from "../../config/config.js";
import type { Logger } from "../../log/logger.js";
import type {
  ExternalIdentity,
  PendingSignIn,
  ProviderPolicy,
  ProviderResponse,
  RedirectProvider,
} from "../providers/provider.js";
import { toAuthnRequestUrl, toMetadata } from "./authn-request.js";
import { verifyInThread } from "./saml-thread.js";

/** Tags of a response; a user with 1,000 groups needs 2,100. */
const MAX_TAGS = 4_000;

export interface SamlProviderOptions {
  readonly saml: Config["saml"];
  /** With which the identity provider signs, PEM. */
  readonly certificates: readonly string[];
  readonly logger: Pick<Logger, "warn">;
  /** Runs verifications, a few at a time, in turns by address. */
  readonly runInTurn: <T>(
    address: string,
    work: () => Promise<T>,
  ) => Promise<T>;
}

/**
 * An identity provider of SAML 2.0: Web Browser SSO profile, request by HTTP-Redirect, response
 * by HTTP-POST. The response or its assertion must be signed, and answer the request.
 */
export class SamlProvider implements RedirectProvider {
  readonly policy: ProviderPolicy;
  readonly #options: SamlProviderOptions;

  constructor(options: SamlProviderOptions) {
    this.#options = options;
    const { adminGroup, linkByName } = options.saml;
    this.policy = { provider: "saml", adminGroup, linkByName };
  }

  begin(callbackUrl: string): ReturnType<RedirectProvider["begin"]> {
    // An xs:ID begins with a letter or an underscore.
    const id = `_${randomBytes(20).toString("hex")}`;
    const { signOnUrl, entityId } = this.#options.saml;
    const request = { id, signOnUrl, entityId, callbackUrl };
    const url = toAuthnRequestUrl(request);
    return Promise.resolve({ url, pending: { state: id } });
  }

  /** @throws XoError CREDENTIALS_INVALID with a `reason`, TOO_MANY_REQUESTS */
  async finish(
    { url, fields, address }: ProviderResponse,
    { state }: PendingSignIn,
  ): Promise<ExternalIdentity> {
    const [callbackUrl = ""] = url.split("?");
    const response = fields["SAMLResponse"] ?? "";
    checkTags(response);
    const { saml, certificates, logger, runInTurn } = this.#options;
    const request = {
      saml,
      certificates,
      callbackUrl,
      requestId: state,
      response,
    };
    const verdict = await runInTurn(address, () => verifyInThread(request));
    if ("identity" in verdict) return verdict.identity;
    const { reason, cause } = verdict;
    logger.warn("SAML sign-in failed", { reason, cause });
    throw new XoError("CREDENTIALS_INVALID", { reason });
  }

  metadata(callbackUrl: string): string {
    const { entityId } = this.#options.saml;
    return toMetadata({ entityId, callbackUrl });
  }
}

/** @throws XoError CREDENTIALS_INVALID */
function checkTags(response: string): void {
  const xml = Buffer.from(response, "base64");
  let tags = 0;
  for (let at = xml.indexOf("<"); at >= 0; at = xml.indexOf("<", at + 1))
    if (++tags > MAX_TAGS) {
      const reason = `the response has more than ${MAX_TAGS} XML tags`;
      throw new XoError("CREDENTIALS_INVALID", { reason });
    }
}
