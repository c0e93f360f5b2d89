import { deflateRawSync } from "node:zlib";
import { escapeMarkup } from "../../encoding/escape-markup.js";

const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
const ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion";
const METADATA = "urn:oasis:names:tc:SAML:2.0:metadata";
const HTTP_POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";

interface AuthnRequest {
  readonly id: string;
  /** Single sign-on URL of the identity provider. */
  readonly signOnUrl: string;
  /** Entity ID of this server. */
  readonly entityId: string;
  /** Assertion consumer service URL of this server. */
  readonly callbackUrl: string;
}

/**
 * URL with an AuthnRequest that is not signed (SAML Core, 3.4.1; Bindings, 3.4). The
 * identity provider returns the id as RelayState.
 */
export function toAuthnRequestUrl(request: AuthnRequest): string {
  const { id, signOnUrl, entityId, callbackUrl } = request;
  const attributes = Object.entries({
    "xmlns:samlp": PROTOCOL,
    "xmlns:saml": ASSERTION,
    ID: id,
    Version: "2.0",
    IssueInstant: new Date().toISOString(),
    Destination: signOnUrl,
    ProtocolBinding: HTTP_POST,
    AssertionConsumerServiceURL: callbackUrl,
  }).map(([name, value]) => `${name}="${escapeMarkup(value)}"`);
  const issuer = `<saml:Issuer>${escapeMarkup(entityId)}</saml:Issuer>`;
  const xml = `<samlp:AuthnRequest ${attributes.join(" ")}>${issuer}</samlp:AuthnRequest>`;
  const url = new URL(signOnUrl);
  const encoded = deflateRawSync(xml).toString("base64");
  url.searchParams.append("SAMLRequest", encoded);
  url.searchParams.append("RelayState", id);
  return url.href;
}

/** Metadata of this server for the identity provider, XML (SAML Metadata, 2.4.4). */
export function toMetadata({
  entityId,
  callbackUrl,
}: Pick<AuthnRequest, "entityId" | "callbackUrl">): string {
  return `<?xml version="1.0"?>
<EntityDescriptor xmlns="${METADATA}" entityID="${escapeMarkup(entityId)}">
  <SPSSODescriptor protocolSupportEnumeration="${PROTOCOL}" AuthnRequestsSigned="false" WantAssertionsSigned="true">
    <AssertionConsumerService index="0" isDefault="true" Binding="${HTTP_POST}" Location="${escapeMarkup(callbackUrl)}"/>
  </SPSSODescriptor>
</EntityDescriptor>
`;
}
