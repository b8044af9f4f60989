import type { Account } from '@florin/protocol/account.ts';
import type { LinkDetail } from '@florin/protocol/link.ts';
import { useState } from 'react';
import { fieldError, sayFailure } from '../api/failure.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { useTokenNames } from '../api/use-token-names.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { ScreenLink, useGoTo } from '../app/screen-link.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { ChoiceField } from '../ui/choice.tsx';
import { ConflictNotice, useBase } from '../ui/conflict.tsx';
import { CancelButton, DialogActions, Sheet } from '../ui/dialog.tsx';
import { differs, useDraftGuard } from '../ui/draft-guard.tsx';
import { TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';
import { toast } from '../ui/toast.tsx';
import { linkParts } from './link-conflict.ts';
import {
  type LinkDraft,
  linkBodyOf,
  linkDraftOf,
  linkFaults,
  newLinkDraft,
  type ProductChoice,
  suggestedName,
  withWallet,
} from './link-draft.ts';
import { ItemFields, ShownProductField } from './link-items.tsx';
import { LimitFields, PayerFields, PolicyFields, WalletFields } from './link-options.tsx';
import { LinkPreview } from './link-preview.tsx';

/** Creates a link and goes to its page, or edits the one given. */
export default function LinkSheet({
  isOpen,
  link,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly link?: LinkDetail;
  readonly onClose: () => void;
}) {
  return (
    <Sheet
      isOpen={isOpen}
      onClose={onClose}
      size="wide"
      title={link === undefined ? 'Create a link' : 'Edit the link'}
      {...(link === undefined
        ? {}
        : {
            description: 'Saving makes a new version. Payments under way keep the one that they began with.',
          })}
    >
      <Loader link={link} onClose={onClose} />
    </Sheet>
  );
}

interface LoaderProps {
  readonly link: LinkDetail | undefined;
  readonly onClose: () => void;
}

/** Reads what the form chooses from. */
function Loader({ link, onClose }: LoaderProps) {
  const mayAddWallet = mayDo(useMerchant().role, 'accounts:write');
  const accounts = useRead('GET /account/list', {});
  const products = useRead('GET /product/list/:page/:size', { params: { page: 1, size: 100 } });
  const failed = [accounts, products].find(({ error, data }) => error !== null && data === undefined);
  if (failed !== undefined) return <Failed error={failed.error} onRetry={() => void failed.refetch()} />;
  if (accounts.data === undefined || products.data === undefined)
    return (
      <div className="grid gap-4">
        <Skeleton className="h-24" />
        <Skeleton className="h-40" />
        <Skeleton className="h-24" />
      </div>
    );
  if (accounts.data.length === 0)
    return (
      <Notice
        tone="warn"
        title="There is no wallet yet"
        action={
          mayAddWallet && (
            <ScreenLink path="wallets" className={buttonClass('primary')}>
              Add a wallet
            </ScreenLink>
          )
        }
      >
        A link needs a wallet that receives the money.{!mayAddWallet && ' An owner or an admin adds it.'}
      </Notice>
    );
  const active = products.data.products
    .filter(({ status }) => status === 'active')
    .map(({ productId, name, commonPrices }) => ({ productId, name, prices: commonPrices }));
  const own = link === undefined ? [] : productsOf(link);
  const others = own.filter(({ productId }) => !active.some((each) => each.productId === productId));
  return <LinkForm {...{ link, onClose }} accounts={accounts.data} products={[...active, ...others]} />;
}

function productsOf(link: LinkDetail): ProductChoice[] {
  const named = link.lineItems.items.filter(({ productId }) => productId !== '');
  return [...new Map(named.map((item) => [item.productId, item])).values()].map((item) => ({
    productId: item.productId,
    name: item.productData?.productName ?? item.productId,
    prices: item.unitPrice === 0 ? [] : [item.unitPrice],
  }));
}

interface FormProps extends LoaderProps {
  readonly accounts: readonly Account[];
  readonly products: readonly ProductChoice[];
}

const ownFields = [
  'linkName',
  'lineItems',
  'accountId',
  'settlementToken',
  'successUrl',
  'cancelUrl',
  'customSuccessText',
  'maxPayments',
  'activeUntil',
  'exceptionPolicy',
];

/** The draft of the form, and what sends it. */
function useLinkForm({ link, accounts, products, onClose }: FormProps) {
  const [typed, setTyped] = useState(() => (link === undefined ? newLinkDraft() : linkDraftOf(link)));
  const [begun, setBegun] = useState(typed);
  // Until a name is typed, the link is called what it sells.
  const [isNamed, setNamed] = useState(link !== undefined);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const guard = useDraftGuard(differs(typed, begun), onClose);
  const close = () => {
    guard.release();
    onClose();
  };
  const draft = withWallet(typed, accounts);
  const write = useSave(link, close);
  const names = new Map(products.map(({ productId, name }) => [productId, name]));
  const suggestion = suggestedName(draft, names).slice(0, 100);
  const submit = () => {
    const found = linkFaults(draft);
    setFaults(found);
    if (Object.keys(found).length > 0) return undefined;
    return write.save(linkBodyOf(draft, draft.linkName.trim() || suggestion));
  };
  // A removed wallet stays in what was typed, so that no other one is chosen for it.
  const change = (changed: Partial<LinkDraft>) => {
    if (changed.linkName !== undefined) setNamed(true);
    setTyped({ ...draft, accountId: typed.accountId, ...changed });
    setFaults({});
    if (!write.base.isConflict) write.reset();
  };
  const settle = () => {
    if (link === undefined) return;
    setBegun(linkDraftOf(link));
    write.base.settle(link.updateAt);
  };
  const name = isNamed ? draft.linkName : suggestion;
  const { question } = guard;
  return { draft, begun, name, change, faults, write, suggestion, submit, settle, question };
}

function LinkForm(props: FormProps) {
  const { link, accounts, products } = props;
  const form = useLinkForm(props);
  const { draft, begun, name, change, faults, write, suggestion, submit, settle, question } = form;
  const parts = { draft, change, faults, error: write.error };
  const nameOf = useTokenNames();
  return (
    <form noValidate onSubmit={onSubmit(submit)}>
      <div className="grid items-start gap-x-8 gap-y-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="grid min-w-0 gap-5">
          {link === undefined && (
            <TypeField draft={draft} change={change} hasProducts={products.length > 0} />
          )}
          {draft.linkType === 'fixed' ? (
            <ItemFields {...parts} products={products} />
          ) : (
            <ShownProductField {...parts} products={products} />
          )}
          <TextField
            label="Name"
            hint="The payer and your list of links show it."
            maxLength={100}
            placeholder={suggestion}
            value={name}
            onChange={(linkName) => change({ linkName })}
            error={fieldError(write.error, 'linkName')}
          />
          <WalletFields {...parts} accounts={accounts} />
          <LimitFields {...parts} />
          <PayerFields {...parts} />
          <PolicyFields {...parts} />
        </div>
        <div className="min-w-0 lg:sticky lg:top-0">
          <LinkPreview draft={draft} name={name.trim() || suggestion} />
        </div>
      </div>
      <DialogActions
        notice={
          write.base.isConflict && link !== undefined ? (
            <ConflictNotice
              title={sayFailure(write.error)}
              parts={linkParts(products, accounts, nameOf)}
              stored={link.updateAt === write.base.readAt ? undefined : linkDraftOf(link)}
              typed={draft}
              begun={begun}
              onTake={change}
              onSettle={settle}
            />
          ) : (
            <FailureNotice error={write.error} fields={ownFields} />
          )
        }
      >
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={write.isRunning} disabled={write.base.isConflict}>
          {link === undefined ? 'Create the link' : 'Save'}
        </Button>
      </DialogActions>
      {question}
    </form>
  );
}

function useSave(link: LinkDetail | undefined, onClose: () => void) {
  const goTo = useGoTo();
  const create = useWrite('POST /payment/link/create', {
    onDone: ({ linkId }) => {
      toast('Link created');
      onClose();
      goTo(`links/${linkId}`);
    },
  });
  const update = useWrite('POST /payment/link/update', {
    onDone: () => {
      toast('Link saved');
      onClose();
    },
  });
  const write = link === undefined ? create : update;
  const { isRunning, error, reset } = write;
  const base = useBase(link?.updateAt, write, 'link_version_invalid');
  return {
    base,
    isRunning,
    error,
    reset,
    save: (body: ReturnType<typeof linkBodyOf>) =>
      link === undefined
        ? create.run({ body })
        : update.run({ body: { ...body, linkId: link.linkId, ifUpdateAt: base.readAt } }),
  };
}

function TypeField({
  draft,
  change,
  hasProducts,
}: {
  readonly draft: LinkDraft;
  readonly change: (changed: Partial<LinkDraft>) => void;
  readonly hasProducts: boolean;
}) {
  return (
    <>
      <ChoiceField
        label="What it takes"
        value={draft.linkType}
        onChange={(linkType) => change({ linkType })}
        options={[
          { value: 'fixed', label: 'A fixed price', hint: 'For one or more of your products.' },
          { value: 'custom', label: 'Any amount', hint: 'The payer writes the amount.' },
        ]}
      />
      {draft.linkType === 'fixed' && !hasProducts && (
        <Notice
          tone="info"
          action={
            <ScreenLink path="products" className={buttonClass('plain', 'small')}>
              Products
            </ScreenLink>
          }
        >
          Create a product first: a link with a fixed price sells products.
        </Notice>
      )}
    </>
  );
}
