import type { Config } from "./config.js";
import type { ConfigProblem } from "./config-problem.js";

/** Checks of `telemetry` that a schema cannot express. */
export function checkTelemetry(
  telemetry: Config["telemetry"],
): ConfigProblem[] {
  const { url, token, tokenFile, tokenEnv } = telemetry;
  if (url === "") return [];
  const problem = (key: string, reason: string): ConfigProblem => ({
    path: ["telemetry", key],
    reason,
  });
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
    return [problem("url", "must be a URL that starts with http or https")];
  const { protocol, username, password } = new URL(url);
  const tokens = [token, tokenFile, tokenEnv].filter((way) => way !== "");
  return [
    ...(username + password === ""
      ? []
      : [problem("url", "must not contain a password")]),
    ...(tokens.length > 1
      ? [problem("token", "is configured in more than one way")]
      : []),
    ...(tokens.length > 0 && protocol !== "https:"
      ? [problem("token", "requires https")]
      : []),
  ];
}
