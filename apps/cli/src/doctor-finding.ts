/** The result of one check. */
export interface Finding {
  readonly what: string;
  readonly isGood: boolean;
  readonly detail: string;
}

export function good(what: string, detail: string): Finding {
  return { what, isGood: true, detail };
}

export function bad(what: string, detail: string): Finding {
  return { what, isGood: false, detail };
}
