import type { Messages } from "../../locale/messages.js";
import { reachabilityOf, type Repository } from "../repository.js";

/** What an administrator can do about the error of a repository; empty: there is none. */
export function adviceOf(
  repository: Repository,
  { advice }: Pick<Messages["backup"]["repositories"], "advice">,
): string {
  if (repository.error === undefined) return "";
  const state = reachabilityOf(repository);
  return (advice as Partial<Record<string, string>>)[state] ?? "";
}
