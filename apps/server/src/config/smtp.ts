import { isVisibleLine } from '@florin/protocol/visible-text.ts';
import { parseEmail } from '#members/email.ts';
import type { Secret } from '#outside/secret.ts';
import { ConfigError, type Fields, type SecretSource } from './field.ts';

/** The operator's mail server. Without one, no e-mail is sent or stored. */
export interface SmtpConfig {
  readonly host: string;
  readonly port: number;
  readonly security: 'starttls' | 'tls' | 'none';
  /** Undefined: the server asks for no password. */
  readonly login: { readonly user: string; readonly password: Secret } | undefined;
  readonly from: string;
  readonly fromName: string;
  /** The most e-mails to payers of one merchant in 24 hours. */
  readonly payerMailsPerDay: number;
}

/** Reads the setting `smtp`. Production refuses a connection without TLS, which would show passwords and payers. */
export function smtpOf(
  fields: Fields,
  secrets: SecretSource,
  environment: 'local' | 'production',
): SmtpConfig {
  const host = fields.text('host');
  if (!/^[A-Za-z0-9.:-]{1,253}$/.test(host))
    throw new ConfigError(`smtp.host is ${host}: give a host name such as smtp.example.com`);
  const security = fields.choice('security', ['starttls', 'tls', 'none'], 'starttls');
  if (security === 'none' && environment === 'production')
    throw new ConfigError('smtp.security is none: production needs starttls or tls');
  const from = fields.text('from');
  if (parseEmail(from) !== from)
    throw new ConfigError(
      `smtp.from is ${from}: give an e-mail address in lower case, such as pay@example.com`,
    );
  const fromName = fields.optionalText('fromName') ?? from;
  if (fromName.length > 100 || !isVisibleLine(fromName))
    throw new ConfigError('smtp.fromName must be one line of at most 100 visible characters');
  const user = fields.optionalText('user');
  return {
    ...{ host, security, from, fromName },
    payerMailsPerDay: fields.integer('payerMailsPerDay', { least: 1, most: 1_000_000, fallback: 1_000 }),
    port: fields.integer('port', { least: 1, most: 65_535, fallback: security === 'tls' ? 465 : 587 }),
    login:
      user === undefined
        ? undefined
        : {
            user,
            password: secrets.read('FLORIN_SMTP_PASSWORD', 'smtpPassword', /^[^\r\n]+$/, 'one line'),
          },
  };
}
