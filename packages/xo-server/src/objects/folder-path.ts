import { XoError } from "@xo-server/model";

/** A part of a path, without XenCenter's separators and control characters. */
const PART = /^[^/;\p{Cc}]+$/u;
const RULE =
  'must be a path such as "/Production/Web": parts that are not empty, without ";"';

/**
 * The path of a folder as XenCenter stores it, without a slash at its end.
 * @throws XoError INVALID_PARAMETERS with the nearest path that is allowed
 */
export function toFolderPath(text: string): string {
  const parts = text.split("/").map((part) => part.trim());
  const isRooted = parts[0] === "";
  const named = parts.filter((part) => part !== "");
  const hasGap = parts.slice(1, -1).includes("");
  const isValid = named.length > 0 && named.every((part) => PART.test(part));
  if (isValid && isRooted && !hasGap) return `/${named.join("/")}`;
  const cleaned = named
    .map((part) => part.replace(/[;\p{Cc}]/gu, "").trim())
    .filter((part) => part !== "");
  const hint =
    cleaned.length > 0 ? `; did you mean "/${cleaned.join("/")}"?` : "";
  throw invalidFolder(`${RULE}${hint}`);
}

/** @param reason what is wrong with the parameter `folder` */
export function invalidFolder(reason: string): XoError {
  const message = `folder ${reason}`;
  return new XoError("INVALID_PARAMETERS", {
    reason: message,
    errors: [{ instancePath: "/folder", keyword: "folder", message }],
  });
}
