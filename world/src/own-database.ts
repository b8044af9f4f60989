import { randomBytes } from 'node:crypto';
import { checkServer, type Schema, UnfitDatabase } from '@florin/pg';
import { schema as serviceSchema } from '@florin/server/operator';
import pg from 'pg';
import type { KeptDatabase, WorldHome } from './home.ts';

/** What a world needs to keep its data on a PostgreSQL that was there before it. */
export interface OwnDatabaseOptions {
  readonly home: WorldHome;
  /** `DATABASE_URL`: a role that may create roles and databases. Needed once, and afterwards only compared. */
  readonly serverUrl: string | undefined;
  /** What the server must be able to do; tests replace it. */
  readonly schema?: Schema;
}

/** The first version with a collation that is the same on every system. */
const BUILTIN_LOCALE_VERSION = 170_000;
const LOCK_LIMIT_MS = 10_000;
const DEFAULT_PORT = '5432';

const serverOf = (url: string): string => {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || DEFAULT_PORT}`;
};

const parseServerUrl = (text: string): string => {
  const isKnown = URL.canParse(text) && /^postgres(?:ql)?:$/.test(new URL(text).protocol);
  if (isKnown && new URL(text).hostname !== '') return text;
  throw new UnfitDatabase(
    'DATABASE_URL is not like postgres://user:password@host:5432/postgres: give a server with its host',
  );
};

/** Refusals of the server in one sentence that names the variable; everything else is thrown on. */
const explain = (error: unknown, url: string): unknown => {
  if (error instanceof UnfitDatabase || error instanceof pg.DatabaseError)
    return new UnfitDatabase(`DATABASE_URL (${serverOf(url)}): ${error.message}.`);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return new UnfitDatabase(`DATABASE_URL: no PostgreSQL answers at ${serverOf(url)} (${error.code}).`);
  return error;
};

const withClient = async <Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> => {
  const client = new pg.Client({ connectionString: url, application_name: 'florin-world' });
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
};

const planDatabase = (serverUrl: string): KeptDatabase => {
  const url = new URL(serverUrl);
  // Nothing else on the server has this name, so nothing else is ever changed.
  const name = `florin_world_${randomBytes(8).toString('hex')}`;
  url.username = name;
  url.password = randomBytes(24).toString('hex');
  url.pathname = `/${name}`;
  return { url: url.href, state: 'planned' };
};

/** Creates role and database, unless an interrupted start has done so. */
const createDatabase = (serverUrl: string, { username: name, password }: URL): Promise<void> =>
  withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ role: string; above: boolean; able: boolean; version: number }>(
      `select r.rolname as role, r.rolsuper as above, r.rolsuper or (r.rolcreaterole and r.rolcreatedb) as able,
         current_setting('server_version_num')::int4 as version
       from pg_roles r where r.rolname = current_user`,
    );
    const { role = '', above = false, able = false, version = 0 } = rows[0] ?? {};
    if (!able)
      throw new UnfitDatabase(
        `the role ${role} may not create roles and databases: give the URL of one that may, such as the superuser's`,
      );
    const roles = await client.query('select from pg_roles where rolname = $1', [name]);
    if (roles.rowCount === 0)
      await client.query(`create role ${name} login createdb password ${pg.escapeLiteral(password)}`);
    const databases = await client.query('select from pg_database where datname = $1', [name]);
    if (databases.rowCount !== 0) return;
    // Only a member may make a role the owner of a database.
    if (!above) await client.query(`grant ${name} to current_user`);
    const locale =
      version < BUILTIN_LOCALE_VERSION
        ? ''
        : " locale_provider builtin builtin_locale 'C.UTF-8' lc_collate 'C' lc_ctype 'C'";
    await client.query(`create database ${name} owner ${name} template template0 encoding 'UTF8'${locale}`);
    if (!above) await client.query(`revoke ${name} from current_user`);
  });

/** Removes what the world has in its database, whose owner has no rights elsewhere. */
const emptyDatabase = (url: string): Promise<void> =>
  withClient(url, async (client) => {
    await client.query(`set lock_timeout = ${LOCK_LIMIT_MS}`);
    await client.query('drop owned by current_user cascade');
    for (const setting of ["timezone to 'UTC'", 'jit to off'])
      await client.query(`alter database ${new URL(url).username} set ${setting}`);
  });

const checkKept = (kept: KeptDatabase, serverUrl: string | undefined): void => {
  if (serverUrl === undefined || serverOf(kept.url) === serverOf(serverUrl)) return;
  throw new UnfitDatabase(
    `This world has its data on ${serverOf(kept.url)}: start it without DATABASE_URL, or choose another FLORIN_HOME for a world on ${serverOf(serverUrl)}.`,
  );
};

/** Whether the world of this home keeps its data, or is asked to keep it, on a server that was there before it. */
export const hasOwnDatabase = ({ home, serverUrl }: OwnDatabaseOptions): boolean =>
  serverUrl !== undefined || home.readDatabase() !== undefined;

/**
 * The URL of the world's own database, as its owner, an ordinary role. Role and database are created at the first start,
 * with names that nothing else has. Nothing else on the server changes, at no time. Throws an UnfitDatabase with one
 * sentence for a server that is too old, a pooler, a role that may not create them, and a home that has its data elsewhere.
 */
export const openOwnDatabase = async ({
  home,
  serverUrl: given,
  schema = serviceSchema,
}: OwnDatabaseOptions): Promise<string> => {
  const serverUrl = given === undefined ? undefined : parseServerUrl(given);
  const kept = home.readDatabase();
  if (kept === undefined && home.hasCluster())
    throw new UnfitDatabase(
      'This world has a PostgreSQL of its own: start it without DATABASE_URL, or choose another FLORIN_HOME.',
    );
  if (kept !== undefined) checkKept(kept, serverUrl);
  const database = kept ?? planDatabase(serverUrl ?? '');
  const asked = database.state === 'planned' ? serverUrl : database.url;
  if (asked === undefined)
    throw new UnfitDatabase("This world's database was not created: start it with DATABASE_URL once more.");
  try {
    await checkServer(asked, schema);
    if (database.state === 'planned') {
      home.writeDatabase(database);
      await createDatabase(asked, new URL(database.url));
    }
    if (database.state !== 'ready') await emptyDatabase(database.url);
  } catch (error) {
    throw explain(error, asked);
  }
  home.writeDatabase({ ...database, state: 'ready' });
  return database.url;
};
