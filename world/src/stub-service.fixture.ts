import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** Replaces the service in the tests of the supervisor: always healthy, and it reports its pid. */
const { http } = JSON.parse(readFileSync(process.env['FLORIN_CONFIG'] ?? '', 'utf8')) as {
  http: { host: string; port: number };
};
const server = createServer((_, outgoing) => {
  outgoing.end(String(process.pid));
});
server.listen(http.port, http.host);
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
