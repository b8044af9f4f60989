import { accountCommands } from './account-command.ts';
import { brandingCommands } from './branding-command.ts';
import type { CliOutside } from './command.ts';
import { eventCommands } from './event-command.ts';
import { exceptionCommands } from './exception-command.ts';
import { linkCommands } from './link-command.ts';
import { listenCommand } from './listen-command.ts';
import { logsCommand } from './log-command.ts';
import { loginCommand, logoutCommand } from './login-command.ts';
import { mcpCommand } from './mcp-command.ts';
import { openCommand } from './open-command.ts';
import { payCommand } from './pay-command.ts';
import { productCommands } from './product-command.ts';
import type { Family } from './program.ts';
import { refundCommands } from './refund-command.ts';
import { reportCommands } from './report-command.ts';
import { resendCommand } from './resend-command.ts';
import { sessionCommands } from './session-command.ts';
import { triggerCommand } from './trigger-command.ts';
import { webhookCommands } from './webhook-command.ts';
import { worldCommands } from './world-command.ts';

/** What a merchant's developer does: with an API key, or in the local world. */
export const merchantFamily: Family<CliOutside> = {
  heading: 'Commands of a merchant',
  commands: {
    login: loginCommand,
    logout: logoutCommand,
    ...productCommands,
    ...linkCommands,
    ...sessionCommands,
    ...refundCommands,
    ...exceptionCommands,
    ...reportCommands,
    ...webhookCommands,
    ...eventCommands,
    ...accountCommands,
    ...brandingCommands,
    open: openCommand,
    pay: payCommand,
    listen: listenCommand,
    trigger: triggerCommand,
    resend: resendCommand,
    logs: logsCommand,
    mcp: mcpCommand,
    ...worldCommands,
  },
  groups: {
    products: 'products',
    links: 'payment links',
    sessions: 'sessions: payments, open and done',
    refunds: 'payments that go back',
    exceptions: 'money that came otherwise than asked',
    reports: 'payments, settlements, fees and refunds as a file',
    webhooks: 'receivers of events',
    events: 'what has happened',
    branding: 'the look of your hosted pages',
    accounts: 'wallets that payments are settled to',
    world: 'what can happen to the local world of npm start',
  },
};
