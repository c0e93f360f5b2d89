/** What a browser does with addresses and cookies, and no more. */
export class Browser {
  /** Cookies by host, then by name. */
  readonly #jars = new Map<string, Map<string, string>>();

  /** Cookies that a host has set, as they were set. */
  readonly setCookies: string[] = [];

  /** One request; redirects are not followed. */
  get(url: string, headers: Record<string, string> = {}) {
    return this.#request(url, { headers });
  }

  /**
   * Posts a form; redirects are not followed.
   * @param site another: cookies with SameSite=Lax (those of all servers here) are not sent
   */
  post(
    url: string,
    fields: Record<string, string>,
    site: "same" | "another" = "same",
  ) {
    const body = new URLSearchParams(fields);
    const isSame = site === "same";
    const headers = {
      "sec-fetch-site": isSame ? "same-origin" : "cross-site",
    };
    return this.#request(url, { method: "POST", body, headers }, isSame);
  }

  async #request(
    url: string,
    { headers, ...init }: RequestInit & { headers?: Record<string, string> },
    hasCookies = true,
  ) {
    const { hostname } = new URL(url);
    const jar = this.#jars.get(hostname) ?? new Map<string, string>();
    this.#jars.set(hostname, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`);
    const answer = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: {
        accept: "text/html",
        ...headers,
        ...(hasCookies && cookie.length > 0
          ? { cookie: cookie.join("; ") }
          : {}),
      },
    });
    for (const line of answer.headers.getSetCookie()) {
      this.setCookies.push(line);
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0|1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  }

  /** Follows redirects. @param until stops before an address that fits */
  async follow(url: string, until: (url: string) => boolean = () => false) {
    for (let i = 0; i < 20; i++) {
      const answer = await this.get(url);
      const location = answer.headers.get("location");
      if (location === null) return { url, answer };
      url = new URL(location, url).href;
      if (until(url)) return { url, answer };
    }
    throw new Error("too many redirects");
  }

  cookie(host: string, name: string): string | undefined {
    return this.#jars.get(host)?.get(name);
  }
}
