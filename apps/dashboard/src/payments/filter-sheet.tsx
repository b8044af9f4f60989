import type { PaymentFilter } from '@florin/protocol/payment-view.ts';
import { useEffect, useState } from 'react';
import { parseUsd, typedUsd, usdFault } from '../ui/amount.ts';
import { Button } from '../ui/button.tsx';
import { dayStart } from '../ui/day.ts';
import { DialogActions, Sheet } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { exactDecimal, formatDate, formatUsd } from '../ui/format.ts';
import { nameFault, typedValue } from '../ui/named-option.ts';
import { SelectField } from '../ui/select.tsx';
import { SuggestField } from '../ui/suggest-field.tsx';
import { UsdField } from '../ui/usd-field.tsx';
import { filterFault } from './filter-fault.ts';
import { filteredIds, filteredUsd, type PaymentFilters } from './search-body.ts';
import type { PaymentToken } from './types.ts';
import type { FilterChoices } from './use-filter-choices.ts';

/** The filters of the sheet, which show as chips above the list while they are set. */
export const filterNames: readonly { readonly name: PaymentFilter; readonly label: string }[] = [
  { name: 'createdFrom', label: 'From' },
  { name: 'createdTo', label: 'To' },
  { name: 'paidFrom', label: 'Paid from' },
  { name: 'paidTo', label: 'Paid to' },
  { name: 'amountFrom', label: 'At least' },
  { name: 'amountTo', label: 'At most' },
  { name: 'paidToken', label: 'Paid with' },
  { name: 'sessionType', label: 'Made by' },
  { name: 'payer', label: 'Payer’s wallet' },
  { name: 'payerEmail', label: 'Payer’s e-mail' },
  { name: 'txHash', label: 'Transaction' },
  { name: 'linkId', label: 'Payment link' },
  { name: 'productId', label: 'Product' },
  { name: 'accountId', label: 'Wallet' },
  { name: 'metadata', label: 'Metadata' },
];

const types = [
  { value: '', label: 'Anything' },
  { value: 'chk', label: 'Checkout session' },
  { value: 'lnk', label: 'Payment link' },
  { value: 'ai_checkout', label: 'AI agent' },
] as const;

/** Filters by the ends of a range, side by side. */
const ranges = [
  {
    columns: 'min-[430px]:grid-cols-2',
    ends: [
      { name: 'createdFrom', label: 'Created from' },
      { name: 'createdTo', label: 'Created to' },
    ],
  },
  {
    columns: 'min-[430px]:grid-cols-2',
    ends: [
      { name: 'paidFrom', label: 'Paid from' },
      { name: 'paidTo', label: 'Paid to' },
    ],
  },
  {
    columns: 'grid-cols-2',
    ends: [
      { name: 'amountFrom', label: 'At least', said: 'From' },
      { name: 'amountTo', label: 'At most', said: 'To' },
    ],
  },
] as const;

/** Filters by id, which have names to choose from. */
const named = [
  { name: 'linkId', label: 'Payment link', placeholder: 'Name, or lnk_…' },
  { name: 'productId', label: 'Product', placeholder: 'Name, or prd_…' },
  { name: 'accountId', label: 'Wallet', placeholder: 'Name, or acc_…' },
] as const;

const isNamed = (name: PaymentFilter): name is IdFilter => Object.hasOwn(filteredIds, name);
const isDay = (name: PaymentFilter) => /^(?:created|paid)(?:From|To)$/.test(name);
const isAmount = (name: string) => name === 'amountFrom' || name === 'amountTo';

/** A filter as a person reads it. */
export function filterText(name: PaymentFilter, value: string, choices: FilterChoices): string {
  const amount = isAmount(name) ? filteredUsd(value) : undefined;
  if (amount !== undefined) return formatUsd(amount);
  const day = isDay(name) ? dayStart(value) : undefined;
  if (day !== undefined) return formatDate(new Date(day * 1_000), new Date());
  const options = name === 'sessionType' ? types : choices[name];
  return options?.find((option) => option.value === value)?.label ?? value;
}

function typedFilter(value: string): string {
  const amount = filteredUsd(value);
  return amount === undefined ? value : typedUsd(amount);
}

/** A typed filter as the address holds it. */
function addressed(name: PaymentFilter, typed: string, choices: FilterChoices): string {
  const amount = isAmount(name) ? parseUsd(typed) : undefined;
  if (amount !== undefined) return exactDecimal(amount, 6);
  return isNamed(name) ? typedValue(choices[name] ?? [], filteredIds[name], typed) : typed;
}

type IdFilter = keyof typeof filteredIds;

/** What is typed into the filters, and what is wrong with it: of all but amounts, once the person asks for the payments. */
function useFilterDraft(isOpen: boolean, values: PaymentFilters, choices: FilterChoices) {
  const [draft, setDraft] = useState<Partial<PaymentFilters>>({});
  const [isTried, setTried] = useState(false);
  useEffect(() => {
    if (!isOpen) return;
    setDraft({});
    setTried(false);
  }, [isOpen]);
  const fieldValue = (name: PaymentFilter) =>
    draft[name] ?? (isAmount(name) ? typedFilter(values[name]) : values[name]);
  /** What is wrong with an amount, which is told while it is typed. */
  const amountFault = (name: PaymentFilter) =>
    isAmount(name) && fieldValue(name).trim() !== '' ? usdFault(fieldValue(name)) : undefined;
  /** What else is wrong with one filter, or with two of them together. */
  const faultOf = (name: PaymentFilter) =>
    isNamed(name)
      ? nameFault(choices[name] ?? [], filteredIds[name], fieldValue(name))
      : filterFault(name, fieldValue);
  /** What to change in the address; undefined when something is wrong. */
  const changedValues = () => {
    setTried(true);
    const faults = filterNames.map(({ name }) => amountFault(name) ?? faultOf(name));
    if (faults.some((fault) => fault !== undefined)) return undefined;
    const names = Object.keys(draft) as PaymentFilter[];
    return Object.fromEntries(names.map((name) => [name, addressed(name, draft[name] ?? '', choices)]));
  };
  return {
    fieldValue,
    set: (name: PaymentFilter) => (value: string) => setDraft((now) => ({ ...now, [name]: value })),
    errorOf: (name: PaymentFilter) => amountFault(name) ?? (isTried ? faultOf(name) : undefined),
    changedValues,
  };
}

const tokenOption = ({ tokenId, symbol, network }: PaymentToken) => ({
  value: tokenId,
  label: `${symbol} on ${network}`,
});

const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();

/** All filters of payments. Nothing changes in the list before Show. */
export function FilterSheet({
  isOpen,
  onClose,
  values,
  onApply,
  tokens,
  choices,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly values: PaymentFilters;
  readonly onApply: (changed: Partial<Record<PaymentFilter, string>>) => void;
  readonly tokens: readonly PaymentToken[];
  readonly choices: FilterChoices;
}) {
  const { fieldValue, set, errorOf, changedValues } = useFilterDraft(isOpen, values, choices);
  const field = (name: PaymentFilter) => ({
    value: fieldValue(name),
    onChange: set(name),
    error: errorOf(name),
  });
  const text = (name: PaymentFilter, label: string, placeholder: string, hint?: string) => (
    <TextField
      {...field(name)}
      label={label}
      hint={hint}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
    />
  );
  return (
    <Sheet
      isOpen={isOpen}
      onClose={onClose}
      title="Filters"
      description={`Days begin at midnight in the time zone of this device, ${timeZone}.`}
      size="small"
    >
      <form
        className="flex flex-1 flex-col"
        onSubmit={(event) => {
          event.preventDefault();
          const changed = changedValues();
          if (changed === undefined) return;
          onApply(changed);
          onClose();
        }}
      >
        <div className="grid flex-1 content-start gap-4">
          {ranges.map(({ columns, ends }) => (
            <div key={ends[0].name} className={`grid items-start gap-3 ${columns}`}>
              {ends.map(({ name, ...texts }) =>
                'said' in texts ? (
                  <UsdField key={name} {...field(name)} {...texts} />
                ) : (
                  <TextField key={name} type="date" {...field(name)} {...texts} />
                ),
              )}
            </div>
          ))}
          <SelectField
            label="Paid with"
            value={fieldValue('paidToken')}
            onChange={set('paidToken')}
            options={[{ value: '', label: 'Any token' }, ...tokens.map(tokenOption)]}
          />
          <SelectField
            label="Made by"
            value={types.find(({ value }) => value === fieldValue('sessionType'))?.value ?? ''}
            onChange={set('sessionType')}
            options={types}
          />
          {text('payer', 'Payer’s wallet', '0x…')}
          {text('payerEmail', 'Payer’s e-mail', 'ada@example.com')}
          {text('txHash', 'Transaction', '0x…')}
          {named.map(({ name, ...texts }) => (
            <SuggestField
              key={name}
              {...field(name)}
              {...texts}
              options={choices[name] ?? []}
              idPrefix={filteredIds[name]}
            />
          ))}
          {text('metadata', 'Metadata', 'order=A-17', 'A text of digits stands in quotes: order="1001".')}
        </div>
        <DialogActions>
          <Button
            onClick={() => {
              onApply(Object.fromEntries(filterNames.map(({ name }) => [name, ''])));
              onClose();
            }}
          >
            Clear all
          </Button>
          <Button kind="primary" type="submit">
            Show payments
          </Button>
        </DialogActions>
      </form>
    </Sheet>
  );
}
