import type { AuthenticatedUsers } from "../auth/users/authenticated-users.js";
import type { JobKind } from "../jobs/job-kind.js";
import { createMailSender } from "../notifications/mail-sender.js";
import { UsageReportKind } from "../usage-reports/usage-report-kind.js";
import type { ServerOptions } from "./server-options.js";
import type { Stats } from "../stats/start-stats.js";
import type { Core } from "./start-core.js";

/** The job type that sends usage reports, with its name. */
export function startUsageReports(
  {
    store,
    clock,
    objects,
    views,
    inventory,
    parser,
    memory,
  }: Core & Pick<Stats, "memory">,
  { config }: Pick<ServerOptions, "config">,
  users: Pick<AuthenticatedUsers, "get">,
): readonly [string, JobKind] {
  const kind = new UsageReportKind({
    store,
    clock,
    objects,
    users,
    inventory,
    queries: views.queries,
    parser: parser.xports,
    memory,
    sendMail: createMailSender(config.mail),
  });
  return ["usageReport", kind];
}
