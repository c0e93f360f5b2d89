import { createHash, createSign, randomUUID } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { makeSelfSigned, type CertificateAndKey } from "@xo-server/certificate";

const C14N = "http://www.w3.org/2001/10/xml-exc-c14n#";
const ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion";
const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
const DSIG = "http://www.w3.org/2000/09/xmldsig#";
const PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";

/** What the user and the response are like; what is absent is as it should be. */
export interface SamlAnswer {
  readonly nameId?: string;
  readonly nameIdFormat?: string;
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  readonly issuer?: string;
  readonly audience?: string;
  readonly recipient?: string;
  readonly inResponseTo?: string;
  /** Of the end of its validity from now, in ms. */
  readonly validMs?: number;
  readonly signs?: "assertion" | "response" | "nothing";
  readonly status?: string;
  /** Changes the response after it was signed. */
  readonly forge?: (xml: string) => string;
}

/** Fields of the form that the browser posts. */
export interface SamlForm extends Record<string, string> {
  readonly SAMLResponse: string;
  readonly RelayState: string;
}

/**
 * An identity provider of SAML: reads a request, and writes a response whose XML is in
 * canonical form, so that it is signed here without a library of XML signatures.
 */
export class SamlIdentityProvider {
  readonly entityId = "https://id.example.net/saml";
  readonly signOnUrl = "https://id.example.net/sso?tenant=1";
  readonly #signer: CertificateAndKey;

  static create(): SamlIdentityProvider {
    const names = ["id.example.net"];
    return new SamlIdentityProvider(
      makeSelfSigned({ commonName: names[0]!, names, keyType: "rsa" }),
    );
  }

  private constructor(signer: CertificateAndKey) {
    this.#signer = signer;
  }

  get certificate(): string {
    return this.#signer.cert;
  }

  /** The form, and where it is posted to. */
  answer(location: string): SamlForm & { readonly callback: string } {
    const { xml } = this.readRequest(location);
    const callback = attributeOf(xml, "AssertionConsumerServiceURL");
    return { ...this.respond(location), callback };
  }

  /** The AuthnRequest in the URL to which the browser was redirected. */
  readRequest(location: string): { readonly xml: string; readonly id: string } {
    const text = new URL(location).searchParams.get("SAMLRequest")!;
    const xml = inflateRawSync(Buffer.from(text, "base64")).toString();
    return { xml, id: attributeOf(xml, "ID") };
  }

  /** The form with the response. @param location to which the browser was redirected */
  respond(location: string, answer: SamlAnswer = {}): SamlForm {
    const { xml: request, id } = this.readRequest(location);
    const callback = attributeOf(request, "AssertionConsumerServiceURL");
    const audience = /<saml:Issuer[^>]*>([^<]*)/.exec(request)![1]!;
    const { signs = "assertion", forge = (xml) => xml } = answer;
    const full = { inResponseTo: id, recipient: callback, audience, ...answer };
    const assertion = this.#toAssertion(full);
    const response = this.#toResponse(
      signs === "assertion" ? this.#sign(assertion) : assertion,
      full,
    );
    const xml = forge(signs === "response" ? this.#sign(response) : response);
    return {
      SAMLResponse: Buffer.from(xml).toString("base64"),
      RelayState: new URL(location).searchParams.get("RelayState")!,
    };
  }

  #toAssertion(answer: SamlAnswer): string {
    const {
      issuer = this.entityId,
      nameId = "ada",
      nameIdFormat = PERSISTENT,
      attributes = {},
      validMs = 60_000,
    } = answer;
    const now = new Date().toISOString();
    const end = new Date(Date.now() + validMs).toISOString();
    const statements = Object.entries(attributes).map(
      ([name, values]) =>
        `<saml:Attribute Name="${name}">${values.map((one) => `<saml:AttributeValue>${one}</saml:AttributeValue>`).join("")}</saml:Attribute>`,
    );
    return [
      `<saml:Assertion xmlns:saml="${ASSERTION}" ID="_${randomUUID()}" IssueInstant="${now}" Version="2.0">`,
      `<saml:Issuer>${issuer}</saml:Issuer>`,
      `<saml:Subject><saml:NameID Format="${nameIdFormat}">${nameId}</saml:NameID>`,
      `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">`,
      `<saml:SubjectConfirmationData InResponseTo="${answer.inResponseTo}" NotOnOrAfter="${end}" Recipient="${answer.recipient}"></saml:SubjectConfirmationData>`,
      `</saml:SubjectConfirmation></saml:Subject>`,
      `<saml:Conditions NotOnOrAfter="${end}"><saml:AudienceRestriction><saml:Audience>${answer.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>`,
      `<saml:AuthnStatement AuthnInstant="${now}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`,
      statements.length === 0
        ? ""
        : `<saml:AttributeStatement>${statements.join("")}</saml:AttributeStatement>`,
      `</saml:Assertion>`,
    ].join("");
  }

  #toResponse(assertion: string, answer: SamlAnswer): string {
    const { issuer = this.entityId, status = "Success" } = answer;
    return [
      `<samlp:Response xmlns:samlp="${PROTOCOL}" Destination="${answer.recipient}" ID="_${randomUUID()}" InResponseTo="${answer.inResponseTo}" IssueInstant="${new Date().toISOString()}" Version="2.0">`,
      `<saml:Issuer xmlns:saml="${ASSERTION}">${issuer}</saml:Issuer>`,
      `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"></samlp:StatusCode></samlp:Status>`,
      status === "Success" ? assertion : "",
      `</samlp:Response>`,
    ].join("");
  }

  /** Adds an enveloped signature behind the issuer. @param xml in canonical form */
  #sign(xml: string): string {
    const id = attributeOf(xml, "ID");
    const digest = createHash("sha256").update(xml).digest("base64");
    const signedInfo = (attribute: string) =>
      [
        `<ds:SignedInfo${attribute}><ds:CanonicalizationMethod Algorithm="${C14N}"></ds:CanonicalizationMethod>`,
        `<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></ds:SignatureMethod>`,
        `<ds:Reference URI="#${id}"><ds:Transforms>`,
        `<ds:Transform Algorithm="${DSIG}enveloped-signature"></ds:Transform>`,
        `<ds:Transform Algorithm="${C14N}"></ds:Transform></ds:Transforms>`,
        `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>`,
        `<ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ds:SignedInfo>`,
      ].join("");
    const value = createSign("sha256")
      .update(signedInfo(` xmlns:ds="${DSIG}"`))
      .sign(this.#signer.key, "base64");
    const signature = `<ds:Signature xmlns:ds="${DSIG}">${signedInfo("")}<ds:SignatureValue>${value}</ds:SignatureValue></ds:Signature>`;
    return xml.replace("</saml:Issuer>", `$&${signature}`);
  }
}

/** The first attribute of that name. */
function attributeOf(xml: string, name: string): string {
  return new RegExp(`\\s${name}="([^"]*)"`).exec(xml)![1]!;
}
