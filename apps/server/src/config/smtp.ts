import type { Secret } from '#outside/secret.ts';
import type { SecretSource } from './secret-source.ts';
import { ConfigError } from './setting.ts';
import type { Settings } from './settings.ts';

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

/** The settings of `smtp`. Production refuses a connection without TLS, which would show passwords and payers. */
export function smtpOf({ smtp, environment }: Settings, secrets: SecretSource): SmtpConfig | undefined {
  if (smtp === undefined) return undefined;
  const { host, security, from, fromName = from, payerMailsPerDay, user } = smtp;
  if (security === 'none' && environment === 'production')
    throw new ConfigError('smtp.security is none: production needs starttls or tls');
  const password = () => secrets.read('FLORIN_SMTP_PASSWORD', 'smtpPassword', /^[^\r\n]+$/, 'one line');
  return {
    ...{ host, security, from, fromName, payerMailsPerDay },
    port: smtp.port ?? (security === 'tls' ? 465 : 587),
    login: user === undefined ? undefined : { user, password: password() },
  };
}
