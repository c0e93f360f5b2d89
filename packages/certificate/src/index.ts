export { makeLoopbackCertificate } from "./loopback.js";
export {
  makeSelfSigned,
  type CertificateAndKey,
  type CertificateOptions,
} from "./self-signed.js";
