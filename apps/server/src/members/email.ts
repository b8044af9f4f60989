import { fieldRefusal } from '@florin/protocol/error.ts';

/** What browsers take in a field for an e-mail address (HTML, section 4.10.5.1.5): visible ASCII, one @, a host name. */
const pattern =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;
const maxLength = 254;

/** An e-mail address without surrounding spaces and in lower case; undefined for anything else. */
export function parseEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return email.length <= maxLength && pattern.test(email) ? email : undefined;
}

/** The same, but refuses anything else (400101). */
export function checkedEmail(text: string): string {
  const email = parseEmail(text);
  if (email === undefined) throw fieldRefusal('email', 'must be an e-mail address, such as kim@example.com');
  return email;
}
