import { XoError } from "@xo-server/model";
import type { ReportSetting } from "../../jobs/job-body.js";

interface ReportSettings {
  /** `always`, `failure` or `Never`. */
  readonly reportWhen?: unknown;
  /** E-mail addresses. */
  readonly reportRecipients?: unknown;
}

interface WithReport {
  readonly report?: ReportSetting;
}

/**
 * The report of a job from settings that a client of Xen Orchestra has sent.
 * @param before the job; settings that are not sent remain
 * @throws XoError INVALID_PARAMETERS
 */
export function fromContractReport(
  { reportWhen, reportRecipients }: ReportSettings,
  before: WithReport | undefined,
): WithReport {
  if (reportWhen === undefined && reportRecipients === undefined) return {};
  const { report } = before ?? {};
  const addresses = reportRecipients ?? report?.addresses ?? [];
  if (!Array.isArray(addresses))
    throw new XoError("INVALID_PARAMETERS", {
      reason: "reportRecipients must be a list of e-mail addresses",
    });
  return {
    report: {
      ...report,
      when:
        reportWhen === undefined
          ? (report?.when ?? "failure")
          : toWhen(reportWhen),
      addresses: addresses.map(String),
    },
  };
}

/** Xen Orchestra's settings of reports. Webhooks have no name there. */
export function toContractReport({ report }: WithReport): ReportSettings {
  if (report === undefined) return {};
  const { when, addresses = [] } = report;
  return { reportWhen: when, reportRecipients: addresses };
}

function toWhen(reportWhen: unknown): ReportSetting["when"] {
  switch (reportWhen) {
    case "always":
    case "failure":
    case "never":
      return reportWhen;
    // Clients use different spellings.
    case "Never":
      return "never";
    case "error":
    case "failureOnly":
      return "failure";
    default:
      throw new XoError("INVALID_PARAMETERS", {
        reason: "reportWhen must be always, failure or Never",
      });
  }
}
