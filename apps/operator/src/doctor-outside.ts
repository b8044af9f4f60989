import { statfs } from 'node:fs/promises';
import { connect as connectPlainly } from 'node:net';
import { dirname } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import {
  type Clock,
  type Config,
  findNewestBackup,
  type SmtpSettings,
  smtpTransport,
} from '@florin/server/operator';
import { bad, type DoctorFinding, good } from './doctor-finding.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const timeLimitMs = 5_000;
/** Most renewers start a month before the end: with less left they have failed for weeks. */
const leastValidDays = 14;

/** Where the service listens, as configured, and what answers there now. */
export async function examinePorts({
  http,
  monitoring,
}: Pick<Config, 'http' | 'monitoring'>): Promise<DoctorFinding> {
  const ports = [
    { name: 'http', ...http },
    ...(monitoring === undefined ? [] : [{ name: 'monitoring', ...monitoring }]),
  ];
  const told = await Promise.all(
    ports.map(async ({ name, host, port }) => {
      const isAnswering = port !== 0 && (await accepts(host, port));
      return `${name} ${host}:${port} (${isAnswering ? 'answers' : 'nothing listens now'})`;
    }),
  );
  return good('ports', told.join(', '));
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectPlainly({ host, port, timeout: timeLimitMs });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    for (const event of ['error', 'timeout']) socket.once(event, () => settle(false));
  });
}

/** The certificate of the origin; no finding without TLS. `ca`: additional trusted authorities, in PEM. */
export async function examineCertificate(
  origin: string,
  { clock, ca }: { readonly clock: Clock; readonly ca?: string },
): Promise<DoctorFinding[]> {
  const url = new URL(origin);
  if (url.protocol !== 'https:') return [];
  const what = `certificate of ${url.host}`;
  try {
    const { certificate, problem } = await certificateOf(url, ca);
    const end = new Date(certificate.valid_to);
    const days = Math.floor((end.getTime() - clock.now().getTime()) / dayMs);
    const detail = `ends ${end.toISOString()}, in ${days} days`;
    if (problem !== undefined) return [bad(what, `${detail}: payers' browsers refuse it: ${problem}`)];
    return [days >= leastValidDays ? good(what, detail) : bad(what, `${detail}: renew it`)];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [bad(what, `cannot be read from here: ${reason}`)];
  }
}

/**
 * Whether webhooks can leave: the newest receivers of events, of which some answers. That of a single merchant may be down. No
 * finding without any.
 */
export async function examineReceivers(urls: readonly string[]): Promise<DoctorFinding[]> {
  const what = 'receivers of webhooks';
  const receivers = urls.map((url) => new URL(url)).filter(({ protocol }) => protocol === 'https:');
  const hosts = [...new Map(receivers.map((url) => [url.host, url])).values()];
  const unreached = await Promise.all(
    hosts.map((url) =>
      certificateOf(url, undefined).then(
        () => [],
        (error: Error) => [`${url.host}: ${error.message}`],
      ),
    ),
  ).then((each) => each.flat());
  const [problem] = unreached;
  if (hosts.length === 0) return [];
  if (problem !== undefined && unreached.length === hosts.length)
    return [bad(what, `none of ${hosts.length} can be reached from here (${problem}): let connections out`)];
  return [
    good(what, `${hosts.length - unreached.length} of the ${hosts.length} newest can be reached from here`),
  ];
}

/** Whether client addresses are known; no finding without TLS, which only a proxy in front of the service ends. */
export function examineProxies({
  origin,
  http: { trustedProxies = [] },
}: Pick<Config, 'origin' | 'http'>): DoctorFinding[] {
  if (!origin.startsWith('https:')) return [];
  const what = 'client addresses';
  if (trustedProxies.length > 0) return [good(what, `come from the proxy at ${trustedProxies.join(', ')}`)];
  return [
    bad(
      what,
      'http.trustedProxies is empty: all clients count as the proxy, for rate limits and the audit log',
    ),
  ];
}

function certificateOf(
  { hostname, port }: URL,
  ca: string | undefined,
): Promise<{ readonly certificate: PeerCertificate; readonly problem: string | undefined }> {
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    // Its problem is reported, not thrown.
    const socket = connect({
      ...{ host, port: port === '' ? 443 : Number(port), rejectUnauthorized: false },
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      ...(ca === undefined ? {} : { ca }),
    });
    socket.setTimeout(timeLimitMs, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate();
      const problem = socket.authorized ? undefined : String(socket.authorizationError);
      socket.destroy();
      resolve({ certificate, problem });
    });
  });
}

/** With less free space the operator would have too little time. */
const leastFreeShare = 10;

/** The disk of a folder; before the folder exists, of its nearest existing parent. */
async function diskOf(folder: string) {
  try {
    return await statfs(folder, { bigint: true });
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing || dirname(folder) === folder) throw error;
    return diskOf(dirname(folder));
  }
}

/** The free space for a folder that the service writes to and creates with the first file. */
export async function examineDisk(what: string, folder: string): Promise<DoctorFinding> {
  try {
    const { bavail, blocks, bsize } = await diskOf(folder);
    const percent = blocks === 0n ? 0n : (bavail * 100n) / blocks;
    const detail = `${folder} has ${(bavail * bsize) / 2n ** 20n} MiB left, ${percent} %`;
    if (percent >= BigInt(leastFreeShare)) return good(what, detail);
    return bad(what, `${detail}: free some space, or new images are refused`);
  } catch (error) {
    return bad(what, `${folder} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** The newest complete backup in a folder: unfinished ones end in `.part`. */
export async function examineBackups(
  folder: string,
  { clock, maxHours }: { readonly clock: Clock; readonly maxHours: number },
): Promise<DoctorFinding> {
  const what = 'backup';
  try {
    const newest = await findNewestBackup(folder);
    if (newest === undefined) return bad(what, `${folder} has no backup: run florin backup`);
    const hours = Math.floor((clock.now().getTime() - newest.getTime()) / hourMs);
    const detail = `the newest one in ${folder} is ${hours} hours old`;
    return hours < maxHours
      ? good(what, detail)
      : bad(what, `${detail}, over ${maxHours}: run florin backup`);
  } catch (error) {
    return bad(what, `${folder} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** The mail server: whether it can be reached, has a good certificate, and takes the login. Nothing is sent. */
export async function examineMail(settings: SmtpSettings): Promise<DoctorFinding> {
  const what = `mail server ${settings.host}:${settings.port}`;
  try {
    await smtpTransport(settings).verify();
    return good(what, 'answers');
  } catch (error) {
    return bad(what, `cannot be used: ${error instanceof Error ? error.message : error}`);
  }
}
