import { settingsMarkdown } from '@florin/server/documents';

/** The page of the settings as Markdown. */
export function configurationMarkdown(): string {
  return `# Configuration

Every setting of the file that \`FLORIN_CONFIG\` names, and every variable of the environment.

The file is JSON. Unknown settings are refused, so a typing error is noticed. \`florin init\` writes one
([production](../runbook/production.md)). An editor completes and checks it by the schema that a release has at
\`deploy/florin.schema.json\`: add \`"$schema": "/opt/florin/deploy/florin.schema.json"\`.

## Settings

${settingsMarkdown()}

## Variables

The environment overrides the file. An empty variable counts as unset.

| variable | meaning |
|---|---|
| \`FLORIN_CONFIG\` | path of the file |
| \`DATABASE_URL\`, \`FLORIN_MASTER_KEY\` | \`databaseUrl\`, \`masterKey\` |
| \`FLORIN_ORDER_SIGNER_KEYSTORE\`, \`FLORIN_ORDER_SIGNER_PASSWORD\` | the keystore of the order signer and its password |
| \`FLORIN_SETTLER_KEYSTORE\`, \`FLORIN_SETTLER_PASSWORD\` | the same of the settler; \`FLORIN_SETTLER_2_…\` of further ones |
| \`FLORIN_ORDER_SIGNER_KEY\`, \`FLORIN_SETTLER_KEY\` | the private keys, instead of keystores |
| \`FLORIN_IMAGES_SECRET_KEY\`, \`FLORIN_SMTP_PASSWORD\` | \`imagesSecretKey\`, \`smtpPassword\` |
| \`FLORIN_ROLES\` | roles of this process, such as \`web,worker\` |
| \`FLORIN_HOST\`, \`FLORIN_PORT\` | where this process listens |
| \`FLORIN_MONITORING_HOST\`, \`FLORIN_MONITORING_PORT\` | where it tells its health and metrics |
| \`FLORIN_LOG_LEVEL\` | \`debug\`, \`info\` (default), \`warn\`, \`error\` or \`silent\` |
| \`FLORIN_LOG_REQUESTS\` | the share of answered requests with a line in the log, from 0 to 1 (default); answers of 500 and above always have one |
| \`FLORIN_RATE_LIMITS\` | \`on\` (default) or \`off\` |

A secret may instead come from a file: add \`_FILE\` to its variable's name, and give the path.
A configuration file that holds a secret must have mode 600.
`;
}
