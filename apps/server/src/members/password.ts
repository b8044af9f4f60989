/** Loaded by the first use, because most processes never check a password. */
const library = () => import('better-auth/crypto');

/** What is stored of a password: scrypt with a salt of its own. */
export async function hashPassword(password: string): Promise<string> {
  return (await library()).hashPassword(password);
}

export async function verifyPassword(check: { hash: string; password: string }): Promise<boolean> {
  return (await library()).verifyPassword(check);
}
