/** The result of one check. */
export interface DoctorFinding {
  readonly what: string;
  readonly isGood: boolean;
  readonly detail: string;
}

export function good(what: string, detail: string): DoctorFinding {
  return { what, isGood: true, detail };
}

export function bad(what: string, detail: string): DoctorFinding {
  return { what, isGood: false, detail };
}
