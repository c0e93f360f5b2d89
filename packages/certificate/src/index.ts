export {
  makeSelfSigned,
  type CertificateAndKey,
  type CertificateOptions,
} from "./self-signed.js";
