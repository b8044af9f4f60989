import { ChevronRight, CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { ScreenLink } from '../../app/screen-link.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Card, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { Failed } from '../../ui/states.tsx';
import { AsOf } from '../as-of.tsx';
import { integerText, lastingText, secondsBetween } from '../figure.ts';
import {
  type ChainNodes,
  findProblems,
  gasTrouble,
  type Health,
  isWithoutNode,
  type Problem,
  type ServiceFunds,
} from '../problem.ts';
import { TroubleRow, toneWords, WorstTrouble } from '../trouble-sign.tsx';
import { useFunds, useHealth, useNodes, useTokens } from '../use-installation.ts';

/** What is wrong, with what to do about it, and the figures of the whole installation. */
export default function HealthScreen() {
  const health = useHealth();
  const nodes = useNodes();
  const funds = useFunds();
  const tokens = useTokens();
  const { data } = health;
  if (data === undefined && health.error !== null)
    return (
      <>
        <PageHeader title="Health" />
        <Card>
          <Failed error={health.error} onRetry={() => void health.refetch()} />
        </Card>
      </>
    );
  const problems =
    data === undefined
      ? undefined
      : findProblems({
          health: data,
          nodes: nodes.data?.chains,
          funds: funds.data,
          tokens: tokens.data?.tokens,
        });
  const unknown = [
    ...(nodes.data === undefined ? ['what the nodes answer'] : []),
    ...(funds.data === undefined ? ['gas and floats'] : []),
    ...(tokens.data === undefined ? ['stopped and paused tokens'] : []),
  ];
  return (
    <>
      <PageHeader title="Health" badge={<Verdict problems={problems} />} actions={<AsOf source={health} />} />
      <Problems problems={problems} unknown={unknown} />
      <Figures health={data} funds={funds.data} nodes={nodes.data?.chains ?? []} />
    </>
  );
}

function Verdict({ problems }: { readonly problems: readonly Problem[] | undefined }) {
  if (problems === undefined) return <Badge>Unknown</Badge>;
  return (
    <WorstTrouble
      found={problems.map(({ trouble }) => trouble)}
      sayWell="All well"
      say={(count, tone) => `${count} ${toneWords[tone].toLowerCase()}${count === 1 ? '' : 's'}`}
    />
  );
}

function Problems({
  problems,
  unknown,
}: {
  readonly problems: readonly Problem[] | undefined;
  /** What is not known yet, or not any more. */
  readonly unknown: readonly string[];
}) {
  if (problems === undefined) return <Skeleton className="h-14 w-full rounded-xl" />;
  return (
    <Card className="overflow-hidden">
      {problems.length === 0 && (
        <p className="flex min-h-14 items-center gap-2.5 px-4 md:px-5">
          <CircleCheck aria-hidden className="size-4 text-good" />
          {unknown.length === 0
            ? 'Nothing needs you.'
            : `Nothing is wrong so far. Unknown: ${unknown.join(', ')}.`}
        </p>
      )}
      <ul aria-label="Problems" className="divide-y divide-line">
        {problems.map((problem) => (
          <ProblemRow key={problem.key} problem={problem} />
        ))}
        {problems.length > 0 && unknown.length > 0 && (
          <li className="px-4 py-3 text-soft md:px-5">Unknown: {unknown.join(', ')}.</li>
        )}
      </ul>
    </Card>
  );
}

function ProblemRow({ problem: { trouble, title, text, screen } }: { readonly problem: Problem }) {
  return (
    <TroubleRow trouble={trouble}>
      <span className="min-w-0 flex-1 basis-56">
        <ScreenLink path={screen} className="font-medium break-words underline-offset-2 hover:underline">
          {title}
          {/* Without a width of its own, so that it never stands alone on a line. */}
          <ChevronRight aria-hidden className="-mr-3.5 inline size-3.5 text-faint" />
        </ScreenLink>
        <span className="block break-words text-soft">{text}</span>
      </span>
    </TroubleRow>
  );
}

/** Books and chain are compared each minute. */
const oldSeconds = 180;

function Figures({
  health,
  funds,
  nodes,
}: {
  readonly health: Health | undefined;
  readonly funds: ServiceFunds | undefined;
  readonly nodes: readonly ChainNodes[];
}) {
  const runways =
    funds?.wallets.map(({ secondsLeft }) => secondsLeft).filter((seconds) => seconds >= 0) ?? [];
  const isPartUnknown = funds?.wallets.some((wallet) => gasTrouble(wallet) === 'gasUnknown') ?? false;
  // The service calls a chain unavailable some seconds after its last node was silent.
  const silent = new Set(nodes.filter((chain) => isWithoutNode(chain.nodes)).map(({ chainId }) => chainId));
  const working = health?.chains.filter(
    ({ chainId, payments, settlement }) =>
      payments === 'available' && settlement === 'running' && !silent.has(chainId),
  ).length;
  const balances = health?.chains.flatMap(({ balances: all, reconciledAt }) => {
    const seconds = secondsBetween(reconciledAt, health.at) ?? Number.POSITIVE_INFINITY;
    const isOld = seconds > oldSeconds && all.every(({ difference }) => difference === '0');
    return all.map(({ difference }) => ({ isOld, isEqual: difference === '0' }));
  });
  const equal = balances?.filter(({ isOld, isEqual }) => isEqual && !isOld).length;
  const old = balances?.filter(({ isOld }) => isOld).length;
  return (
    <Section title="Figures">
      <div className="grid grid-cols-2 gap-3 md:gap-4 lg:grid-cols-4">
        <Figure title="Chains that work" path="chains" unit={health && `of ${health.chains.length}`}>
          {working}
        </Figure>
        <Figure
          title="Balances that agree"
          path="books"
          unit={balances && `of ${balances.length}${old === 0 ? '' : `, ${old} not compared lately`}`}
        >
          {equal}
        </Figure>
        <Figure title="Settlements delayed" path="settlements" unit="legs, counted up to 200">
          {health?.settlements.length}
        </Figure>
        <Figure title="Transactions not final" path="settlements" unit="sent, counted up to 200">
          {health?.transactions.length}
        </Figure>
        <Figure
          title="Gas lasts"
          path="funds"
          unit={isPartUnknown ? 'of the wallets that are known' : 'where it runs out first'}
        >
          {funds && (runways.length === 0 ? 'unknown' : lastingText(Math.min(...runways)))}
        </Figure>
        <Figure
          title="Deliveries waiting"
          path="backlog"
          unit={health && `${integerText(health.deliveries.overdue)} of them overdue`}
        >
          {health && integerText(health.deliveries.waiting)}
        </Figure>
        <Figure title="Webhooks paused" path="backlog" unit="of all merchants">
          {health && integerText(health.deliveries.pausedWebhooks)}
        </Figure>
        <Figure title="Exceptions open" path="all-exceptions" unit="of all merchants">
          {health && integerText(health.openExceptions)}
        </Figure>
      </div>
    </Section>
  );
}

function Figure({
  title,
  path,
  unit,
  children,
}: {
  readonly title: string;
  readonly path: string;
  readonly unit: string | undefined;
  /** Undefined until it is known. */
  readonly children: ReactNode;
}) {
  return (
    <ScreenLink
      path={path}
      className="block rounded-xl border border-line bg-raised p-4 hover:border-line-strong md:p-5"
    >
      <span className="block text-soft">{title}</span>
      <span className="my-1 flex min-h-8 items-center text-xl leading-6 font-semibold tracking-tight tabular-nums md:text-2xl md:leading-8">
        {children === undefined ? <Skeleton className="h-6 w-16" /> : children}
      </span>
      <span className="block min-h-[1.125rem] text-sm text-faint">{unit}</span>
    </ScreenLink>
  );
}
