// Limit of a route without a database: fastify and ajv, an API key in memory, 617 bytes in, 1.5 kB out.
import { bareServer, keyCheck, listen, readSettings } from './limit-server.ts';
import {
  initialState,
  newSessionRow,
  type SessionBody,
  sessionBodySchema,
  sessionOf,
} from './session-row.ts';

const { port, apiKey } = readSettings();
const server = bareServer();
server.addHook('onRequest', keyCheck(apiKey));
server.post<{ Body: SessionBody }>(
  '/session/checkout/create',
  { schema: { body: sessionBodySchema } },
  async ({ body }) => ({
    code: 0,
    message: 'success',
    data: sessionOf(newSessionRow(body), initialState),
  }),
);
await listen(server, port);
