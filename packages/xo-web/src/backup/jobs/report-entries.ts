import type { Json } from "@xo-server/kit";
import type { JobReport } from "../job.js";

export const reportTimes = ["never", "failure", "always"] as const;

/** The fields of reports in the form of a job, as typed. */
export interface ReportEntries {
  reportWhen: JobReport["when"];
  addresses: string;
  webHooks: string;
}

export type ReportInputError = "addresses" | "webHooks" | "receiver";
export type ReportInputErrors = Partial<
  Record<keyof ReportEntries, ReportInputError>
>;

/** What the server accepts: an address without a name, a URL without a password. */
const ADDRESS = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;
const WEB_HOOK = /^https?:\/\/[^\s@]+$/;
const MAX_ADDRESSES = 50;
const MAX_WEB_HOOKS = 10;

/** Initial values of the form fields of a report. */
export function toReportEntries(report: JobReport | undefined): ReportEntries {
  return {
    reportWhen: report?.when ?? "never",
    addresses: (report?.addresses ?? []).join(", "),
    webHooks: (report?.webHooks ?? []).join(" "),
  };
}

/** What is wrong in the form fields of a report, within the limits of the server. */
export function reportInputErrorsOf({
  reportWhen,
  addresses,
  webHooks,
}: ReportEntries): ReportInputErrors {
  if (reportWhen === "never") return {};
  const inputErrors: ReportInputErrors = {};
  const [mails, urls] = [listOf(addresses), listOf(webHooks)];
  if (mails.length + urls.length === 0) return { addresses: "receiver" };
  const isMail = (one: string) => ADDRESS.test(one) && one.length <= 254;
  const isUrl = (one: string) => WEB_HOOK.test(one) && one.length <= 2_048;
  if (!mails.every(isMail) || mails.length > MAX_ADDRESSES)
    inputErrors.addresses = "addresses";
  if (!urls.every(isUrl) || urls.length > MAX_WEB_HOOKS)
    inputErrors.webHooks = "webHooks";
  return inputErrors;
}

/** The property `report` of `job.create` and `job.set`: null removes it. */
export function toReport(
  { reportWhen, addresses, webHooks }: ReportEntries,
  before: JobReport | undefined,
): { readonly report?: Json } {
  const [mails, urls] = [listOf(addresses), listOf(webHooks)];
  // Receivers of a job without reports stay, for the day on which reports are chosen again.
  if (reportWhen === "never" && mails.length + urls.length === 0)
    return before === undefined ? {} : { report: null };
  return {
    report: {
      when: reportWhen,
      ...(mails.length > 0 && { addresses: mails }),
      ...(urls.length > 0 && { webHooks: urls }),
    },
  };
}

/** Entries are separated by spaces, commas or semicolons; a URL may have a comma within. */
function listOf(text: string): string[] {
  return text
    .split(/[,;]?\s+/)
    .map((one) => one.trim().replace(/[,;]$/, ""))
    .flatMap((one) => (one.includes("://") ? [one] : one.split(/[,;]/)))
    .filter((one) => one !== "");
}
