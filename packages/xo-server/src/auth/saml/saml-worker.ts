import { parentPort, workerData } from "node:worker_threads";
import {
  SAML,
  SamlStatusError,
  ValidateInResponseTo,
  type CacheProvider,
} from "@node-saml/node-saml";
import { XoError } from "@xo-server/model";
import type { Config } from "../../config/config.js";
import type { ExternalIdentity } from "../providers/provider.js";
import { checkAssertion, toExternalIdentity } from "./saml-assertion.js";

/** Characters of a message that are shown and logged. */
const MAX_MESSAGE = 200;

/** Difference of the clocks of this server and the identity provider, in ms. */
const CLOCK_SKEW_MS = 60_000;

export interface SamlRequest {
  readonly saml: Config["saml"];
  /** With which the identity provider signs, PEM. */
  readonly certificates: readonly string[];
  /** Assertion consumer service URL of this server. */
  readonly callbackUrl: string;
  /** Id of the AuthnRequest. */
  readonly requestId: string;
  /** The response of the identity provider, in base64. */
  readonly response: string;
}

export type SamlVerdict =
  | { readonly identity: ExternalIdentity }
  /** @property cause for the log */
  | { readonly reason: string; readonly cause: string };

async function verify(request: SamlRequest): Promise<SamlVerdict> {
  const { saml, requestId, callbackUrl } = request;
  try {
    const { profile } = await createSaml(request).validatePostResponseAsync({
      SAMLResponse: request.response,
    });
    if (profile === null) throw new Error("no assertion");
    const issuer = saml.providerEntityId;
    checkAssertion(profile, { issuer, requestId, recipient: callbackUrl });
    return { identity: toExternalIdentity(profile, saml) };
  } catch (error) {
    const cause = (error as Error).message.slice(0, MAX_MESSAGE);
    return { reason: toReason(error as Error, cause), cause };
  }
}

function toReason(error: Error, message: string): string {
  if (error instanceof XoError) return String(error.data["reason"]);
  return error instanceof SamlStatusError
    ? message
    : "the response of the identity provider is not valid";
}

function createSaml({
  saml,
  certificates,
  callbackUrl,
  requestId,
}: SamlRequest): SAML {
  return new SAML({
    callbackUrl,
    entryPoint: saml.signOnUrl,
    issuer: saml.entityId,
    audience: saml.entityId,
    idpIssuer: saml.providerEntityId,
    idpCert: [...certificates],
    // One of both is required: a signed response includes its assertion.
    wantAssertionsSigned: false,
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: CLOCK_SKEW_MS,
    validateInResponseTo: ValidateInResponseTo.always,
    cacheProvider: onlyRequest(requestId),
  });
}

/** The browser has the request, in a sealed cookie: no request is stored here. */
function onlyRequest(requestId: string): CacheProvider {
  const createdAt = new Date().toISOString();
  return {
    saveAsync: () => Promise.resolve(null),
    getAsync: (key) => Promise.resolve(key === requestId ? createdAt : null),
    removeAsync: () => Promise.resolve(null),
  };
}

parentPort!.postMessage(await verify(workerData as SamlRequest));
