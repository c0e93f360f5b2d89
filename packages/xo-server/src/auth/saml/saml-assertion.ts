import type { Profile } from "@node-saml/node-saml";
import type { Config } from "../../config/config.js";
import type { ExternalIdentity } from "../providers/provider.js";
import { XoError } from "@xo-server/model";

const TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";

/** What an assertion must be for. */
interface ExpectedAssertion {
  /** Entity ID of the identity provider. */
  readonly issuer: string;
  /** Id of the AuthnRequest. */
  readonly requestId: string;
  /** Assertion consumer service URL. */
  readonly recipient: string;
}

/** The part that node-saml does not check; as xml2js parses the signed assertion. */
interface ParsedAssertion {
  readonly Assertion: {
    readonly Subject?: readonly {
      readonly SubjectConfirmation?: readonly {
        readonly SubjectConfirmationData?: readonly {
          readonly $?: {
            readonly InResponseTo?: string;
            readonly Recipient?: string;
          };
        }[];
      }[];
    }[];
  };
}

/**
 * Checks that the assertion is of this identity provider, and for this request (SAML
 * Profiles, 4.1.4.3). Its signature, times and audience are checked before.
 * @throws XoError CREDENTIALS_INVALID with a `reason`
 */
export function checkAssertion(
  profile: Profile,
  { issuer, requestId, recipient }: ExpectedAssertion,
): void {
  if (profile.issuer !== issuer)
    throw invalid("the response is of another identity provider");
  const { Assertion } = profile.getAssertion!() as unknown as ParsedAssertion;
  const confirmations = (Assertion.Subject ?? [])
    .flatMap(({ SubjectConfirmation }) => SubjectConfirmation ?? [])
    .map(
      ({ SubjectConfirmationData }) => SubjectConfirmationData?.[0]?.$ ?? {},
    );
  if (confirmations.length === 0)
    throw invalid("the response does not confirm its subject");
  for (const { InResponseTo, Recipient } of confirmations) {
    if (InResponseTo !== requestId)
      throw invalid("the response belongs to another sign-in");
    if (Recipient !== recipient)
      throw invalid(
        "the response is for another address than the callback URL of this server",
      );
  }
}

/** @throws XoError CREDENTIALS_INVALID with a `reason`: NameID or a required attribute is missing */
export function toExternalIdentity(
  profile: Profile,
  {
    idAttribute,
    nameAttribute,
    groupsAttribute,
  }: Pick<Config["saml"], "idAttribute" | "nameAttribute" | "groupsAttribute">,
): ExternalIdentity {
  const attributes = (profile["attributes"] ?? {}) as Record<string, unknown>;
  const valuesOf = (name: string) =>
    Object.hasOwn(attributes, name) ? toTexts(attributes[name]) : [];
  const find = (attribute: string): string => {
    const [value] =
      attribute === "" ? toTexts(profile.nameID) : valuesOf(attribute);
    if (value !== undefined) return value;
    const what = attribute === "" ? "NameID" : `attribute "${attribute}"`;
    throw invalid(`the identity provider sent no ${what}`);
  };
  if (idAttribute === "" && profile.nameIDFormat === TRANSIENT)
    throw invalid(
      "the NameID is transient: configure saml.idAttribute, or another NameID format at the identity provider",
    );
  return {
    // A NameID is unique only within an identity provider.
    id: `${profile.issuer}#${find(idAttribute)}`,
    name: find(nameAttribute),
    groups: groupsAttribute === "" ? undefined : valuesOf(groupsAttribute),
  };
}

function toTexts(value: unknown): string[] {
  return [value]
    .flat()
    .filter((one) => typeof one === "string")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

function invalid(reason: string): XoError {
  return new XoError("CREDENTIALS_INVALID", { reason });
}
