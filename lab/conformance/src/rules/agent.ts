import { type ApiAnswer, type Client, clientOf } from '../client.ts';
import { agentLink, agentSession, preparation } from '../resource.ts';
import { demand, found, refused, succeeded } from '../rule.ts';
import { mismatches, type Shape } from '../shape.ts';
import type { Subject } from '../subject.ts';

/** The parts of the AI protocol that need no wallet. */
export async function checkAgent(
  { rules, key }: Subject,
  aiApi: string,
  known: { linkId: string | undefined; sessionId: string | undefined },
): Promise<void> {
  const agent = clientOf(aiApi);
  const link = await rules.rule('GET /payment/link answers the view of agents, without any key', async () => {
    const answer = await agent.get(`/payment/link/${found(known.linkId, 'a link')}`);
    return both(answer, agentLink);
  });
  await rules.rule('a key changes nothing: the address alone decides what is answered', async () => {
    const answer = await clientOf(aiApi, key).get(`/payment/link/${found(known.linkId, 'a link')}`);
    both(answer, agentLink);
  });
  await rules.rule('GET /session answers the view of agents, and what to sign in order to pay', async () => {
    const view = both(await agent.get(`/session/${found(known.sessionId, 'a session')}`), agentSession);
    const aiView = view['aiView'] as Record<string, Record<string, unknown>>;
    const requirement =
      aiView['preparePaymentRequirement'] ??
      aiView['completePaymentSessionGuide']?.['preparePaymentRequirement'];
    const wrong = mismatches(requirement, { authorizationSpec: preparation }, 'preparePaymentRequirement');
    demand(wrong.length === 0, wrong.join('; '));
  });
  await rules.rule('what is unknown is a business error', async () => {
    refused(await agent.get('/payment/link/lnk_unknown'), 100101);
    refused(await agent.get('/session/sess_unknown'), 100201);
  });
  await checkSigned({ rules, agent, link });
}

interface Offer {
  readonly chainId: string;
  readonly tokenAddress: string;
  readonly amountInToken: string;
}

async function checkSigned(options: {
  rules: Subject['rules'];
  agent: Client;
  link: Record<string, unknown> | undefined;
}): Promise<void> {
  const { rules, agent } = options;
  const message = () => {
    const link = found(options.link, 'the view of a link');
    const [offer] = (link['aiView'] as { supportedPaymentTokens: Offer[] }).supportedPaymentTokens;
    return {
      purpose: 'create_payment_session',
      linkId: link['linkId'],
      linkVersion: link['linkVersion'],
      merchantId: link['merchantId'],
      payer: `0x${'1'.repeat(40)}`,
      paymentChainId: offer?.chainId,
      paymentToken: offer?.tokenAddress,
      amount: offer?.amountInToken,
      authorizationNonce: `0x${crypto.randomUUID().replaceAll('-', '').repeat(2)}`,
      authorizationExpiresAt: String(Math.floor(Date.now() / 1_000) + 600),
    };
  };
  const signature = `0x${'12'.repeat(64)}1b`;
  const create = (change: object) =>
    agent.post('/payment/session/create', { message: { ...message(), ...change }, signature });
  const wrong: [string, object, number][] = [
    ['signed by another wallet', {}, 100601],
    ['for another purpose', { purpose: 'prepare_payment' }, 100606],
    ['for an old version of the link', { linkVersion: 'ver_0' }, 100104],
    ['for another merchant', { merchantId: 'mer_0' }, 100607],
    ['that has expired', { authorizationExpiresAt: '1' }, 100602],
    ['for another amount', { amount: '1' }, 100609],
    ['with a number in another spelling', { amount: '0x1' }, 400101],
    ['without a nonce', { authorizationNonce: undefined }, 400101],
  ];
  for (const [name, change, code] of wrong) {
    await rules.rule(`an authorization ${name} creates no session`, async () =>
      refused(await create(change), code),
    );
  }
  await rules.rule('an authorization that is none prepares no payment', async () => {
    refused(await agent.post('/payment/prepare', { message: {}, signature }), 400101);
  });
}

/** A view of the AI protocol, whose members appear both at the top level and in the envelope. */
function both(answer: ApiAnswer, shape: Shape): Record<string, unknown> {
  const view = succeeded(answer, shape);
  const wrong = mismatches(answer.body, shape, 'the bare view');
  demand(wrong.length === 0, wrong.join('; '));
  return view;
}
