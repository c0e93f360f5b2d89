import type { Messages } from "../../locale/messages.js";
import type { HostDetails } from "./host-details.js";

interface HostNotice {
  readonly messageKey: keyof Messages["host"]["notices"];
  readonly tone: "warn" | "bad";
  /** ISO time that the text contains. */
  readonly at?: string;
}

/** Time before expiry from which a warning is shown. */
const SOON_MS = 30 * 24 * 3_600_000;

/** Warnings about a host. @param now ms since the epoch */
export function hostNotices(
  host: HostDetails,
  now: number,
): readonly HostNotice[] {
  const notices: HostNotice[] = [];
  if (host.power_state === "Running" && !host.enabled)
    notices.push({ messageKey: "disabled", tone: "warn" });
  if (host.rebootRequired) notices.push({ messageKey: "reboot", tone: "warn" });
  const ends = host.certificates
    .map(({ notAfter }) => notAfter)
    .filter((end) => end !== undefined);
  const certificate = endOf(ends, now);
  if (certificate !== undefined)
    notices.push({
      ...certificate,
      messageKey:
        certificate.tone === "bad" ? "certificateEnded" : "certificateEnds",
    });
  const expiry = host.license_expiry;
  const licence = expiry === null ? undefined : endOf([expiry], now);
  if (licence !== undefined)
    notices.push({
      ...licence,
      messageKey: licence.tone === "bad" ? "licenceEnded" : "licenceEnds",
    });
  return notices;
}

/** @param ends seconds since the epoch; 0 or less: never */
function endOf(ends: readonly number[], now: number) {
  const real = ends.filter((end) => end > 0);
  if (real.length === 0) return undefined;
  const first = Math.min(...real) * 1000;
  if (first - now > SOON_MS) return undefined;
  const tone = first <= now ? ("bad" as const) : ("warn" as const);
  return { tone, at: new Date(first).toISOString() };
}
