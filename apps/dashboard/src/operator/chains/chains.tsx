import { Blocks } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../../api/use-call.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, Fact, Facts, PageHeader, SkeletonFacts } from '../../ui/page.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { Time } from '../../ui/value.tsx';
import { ActDialog } from '../act-dialog.tsx';
import { AsOf } from '../as-of.tsx';
import { integerText, lastingText, secondsBetween } from '../figure.ts';
import {
  type ChainHealth,
  type ChainNodes,
  chainProblems,
  isWithoutNode,
  nodeProblems,
  type Problem,
  stopReason,
} from '../problem.ts';
import { RunbookLink } from '../runbook-link.tsx';
import { TroubleNotice, TroubleText, WorstTrouble } from '../trouble-sign.tsx';
import { useHealth, useNodes } from '../use-installation.ts';

/** Each chain: how far it was read, what its nodes answer, and why it is held. */
export default function Chains() {
  const health = useHealth();
  const nodes = useNodes();
  const [resumed, setResumed] = useState<ChainHealth>();
  const { data } = health;
  return (
    <>
      <PageHeader title="Chains" actions={<AsOf source={health} />} />
      {data === undefined && health.error !== null && (
        <Card>
          <Failed error={health.error} onRetry={() => void health.refetch()} />
        </Card>
      )}
      {data?.chains.length === 0 && (
        <Card>
          <Empty icon={<Blocks />} title="No chain is configured" />
        </Card>
      )}
      <div className="grid gap-4 xl:grid-cols-2">
        {data === undefined && health.error === null && (
          <>
            <Card>
              <SkeletonFacts lines={9} />
            </Card>
            <Card>
              <SkeletonFacts lines={9} />
            </Card>
          </>
        )}
        {data?.chains.map((chain) => (
          <ChainCard
            key={chain.chainId}
            chain={chain}
            at={data.at}
            nodes={nodes}
            onResume={() => setResumed(chain)}
          />
        ))}
      </div>
      {resumed !== undefined && <ResumeDialog chain={resumed} onClose={() => setResumed(undefined)} />}
    </>
  );
}

function ChainCard({
  chain,
  at,
  nodes,
  onResume,
}: {
  readonly chain: ChainHealth;
  /** The service's time of the figures. */
  readonly at: string;
  readonly nodes: ReturnType<typeof useNodes>;
  readonly onResume: () => void;
}) {
  const problems = chainProblems(chain, at, nodes.data?.chains ?? []);
  const ofChain = nodes.data?.chains.find(({ chainId }) => chainId === chain.chainId);
  // The service calls a chain unavailable some seconds after its last node was silent.
  const [ofNodes] = problems.length === 0 && ofChain !== undefined ? nodeProblems(ofChain) : [];
  return (
    <Card>
      <h2 className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-lg font-semibold">
        {chain.chain}
        <span className="text-sm font-normal text-faint">chain {chain.chainId}</span>
        <span className="ml-auto">
          <WorstTrouble
            found={(ofNodes === undefined ? problems : [ofNodes]).map(({ trouble }) => trouble)}
            sayWell="Works"
            say={() => stateOf(chain, ofNodes)}
          />
        </span>
      </h2>
      <div className="grid gap-2 pt-2 empty:hidden">
        {problems.map(({ key, trouble, title, text }) => (
          <TroubleNotice
            key={key}
            trouble={trouble}
            title={title}
            action={
              <>
                {chain.isResuming && <Badge tone="info">Resuming</Badge>}
                {chain.haltedReason !== '' && !chain.isResuming && (
                  <Button size="small" onClick={onResume}>
                    Resume…
                  </Button>
                )}
              </>
            }
          >
            {text}
          </TroubleNotice>
        ))}
      </div>
      <div className="my-3">
        <ChainFacts
          chain={chain}
          at={at}
          isFollowed={
            chain.payments === 'available' &&
            chain.haltedReason === '' &&
            ofNodes?.trouble !== 'chainWithoutNode'
          }
        />
      </div>
      <h3 className="flex flex-wrap items-baseline justify-between gap-x-3 border-t border-line pt-3 font-semibold">
        Nodes
        <span className="text-sm font-normal">
          <AsOf source={nodes} />
        </span>
      </h3>
      <Nodes chain={ofChain} />
    </Card>
  );
}

function stateOf({ haltedReason, payments, settlement }: ChainHealth, ofNodes?: Problem): string {
  if (haltedReason !== '') return 'Halted';
  if (payments !== 'available') return payments === 'delayed' ? 'Late' : 'Unavailable';
  if (settlement === 'stopped') return 'Settles nothing';
  if (ofNodes === undefined) return 'Works';
  return ofNodes.trouble === 'chainWithoutNode' ? 'No answer' : 'A node fails';
}

function ChainFacts({
  chain,
  at,
  isFollowed,
}: {
  readonly chain: ChainHealth;
  readonly at: string;
  /** Whether its final block moves, so that the time to it promises something. */
  readonly isFollowed: boolean;
}) {
  const { headNumber, finalNumber } = chain;
  const blocksBehind =
    headNumber === '' || finalNumber === '' ? undefined : BigInt(headNumber) - BigInt(finalNumber);
  return (
    <Facts>
      <Fact name="Head">
        <Block number={headNumber} seconds={secondsBetween(chain.headAt, at)} />
      </Fact>
      <Fact name="Final">
        <Block number={finalNumber} seconds={secondsBetween(chain.finalAt, at)} />
      </Fact>
      <Fact name="Final behind head">
        <span className="tabular-nums">
          {blocksBehind === undefined ? 'unknown' : `${integerText(String(blocksBehind))} blocks`}
        </span>
        {isFollowed && chain.secondsToFinal > 0 && (
          <span className="text-soft"> · {lastingText(chain.secondsToFinal)} until a payment is final</span>
        )}
      </Fact>
      <Fact name="Watcher wrote">
        {chain.watchedAt === '' ? 'never' : <Ago seconds={secondsBetween(chain.watchedAt, at)} />}
      </Fact>
      <Fact name="New payments">{chain.payments === 'unavailable' ? 'refused' : 'taken'}</Fact>
      <Fact name="Settlement">{settlementText(chain)}</Fact>
      <Fact name="Books agreed">
        <Time time={chain.reconciledAt} empty="never" />
      </Fact>
    </Facts>
  );
}

function settlementText({ settlement, settlementReason, payments }: ChainHealth): string {
  if (settlement === 'stopped') return stopReason(settlementReason);
  return payments === 'available' ? 'running' : 'waits for the chain';
}

function Ago({ seconds }: { readonly seconds: number | undefined }) {
  return (
    <span className="tabular-nums">{seconds === undefined ? 'unknown' : `${lastingText(seconds)} ago`}</span>
  );
}

function Block({ number, seconds }: { readonly number: string; readonly seconds: number | undefined }) {
  if (number === '') return <span className="text-faint">unknown</span>;
  return (
    <>
      <span className="font-medium tabular-nums">{integerText(number)}</span>
      <span className="text-soft">
        {' '}
        · <Ago seconds={seconds} />
      </span>
    </>
  );
}

function Nodes({ chain }: { readonly chain: ChainNodes | undefined }) {
  if (chain === undefined) return <p className="py-2 text-faint">unknown</p>;
  const isSilent = isWithoutNode(chain.nodes);
  const heads = chain.nodes.flatMap(({ headNumber }) => (headNumber === '' ? [] : [BigInt(headNumber)]));
  const highest = heads.toSorted((one, other) => Number(other - one))[0] ?? 0n;
  return (
    <ul className="divide-y divide-line">
      {chain.nodes.map(({ node, headNumber, problem }) => (
        <li key={node} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
          <span className="min-w-0 flex-1 basis-40 font-mono text-sm break-all">{node}</span>
          {problem === '' ? (
            <span className="inline-flex flex-wrap items-center gap-x-3 tabular-nums">
              {headNumber !== '' && BigInt(headNumber) < highest && (
                <TroubleText trouble="nodeBehind">
                  {integerText(String(highest - BigInt(headNumber)))} behind
                </TroubleText>
              )}
              {integerText(headNumber)}
            </span>
          ) : (
            <TroubleText trouble={isSilent ? 'chainWithoutNode' : 'nodeFails'}>{problem}</TroubleText>
          )}
        </li>
      ))}
    </ul>
  );
}

function ResumeDialog({ chain, onClose }: { readonly chain: ChainHealth; readonly onClose: () => void }) {
  const resume = useWrite('POST /staff/chain/resume', {
    onDone: () => {
      toast(`The watcher is told to resume ${chain.chain}`);
      onClose();
    },
  });
  return (
    <ActDialog
      onClose={onClose}
      title={`Resume ${chain.chain}?`}
      act="Resume the chain"
      isDangerous
      write={resume}
      onConfirm={(reason) => resume.run({ body: { chain: chain.chain, reason } })}
    >
      <p>
        The watcher goes back to the last stored block that the chain still has. Events in blocks that are
        gone are taken back. Find the cause first.
      </p>
      <p>Halted: {chain.haltedReason}</p>
      <p>
        <RunbookLink name="haltedChain" />
      </p>
    </ActDialog>
  );
}
