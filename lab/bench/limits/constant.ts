// Limit of a public GET without a database: fastify answers an object of the same size, and stringifies it each time.
import { bareServer, listen, readSettings } from './limit-server.ts';

const { port } = readSettings();
const data: unknown = JSON.parse(process.env['LIMIT_REPLY_DATA'] ?? 'null');
const server = bareServer();
server.get('/capabilities/all', async () => ({ code: 0, message: 'success', data }));
await listen(server, port);
