import type { Account } from '@florin/protocol/account.ts';
import { fieldError } from '../api/failure.ts';
import { useRead } from '../api/use-call.ts';
import { useTokenClosure, useTokenNames } from '../api/use-token-names.ts';
import { typedUsd } from '../ui/amount.ts';
import { ChoiceField } from '../ui/choice.tsx';
import { AreaField, CheckField, TextField } from '../ui/field.tsx';
import { shortAddress } from '../ui/format.ts';
import { isolated } from '../ui/isolated.ts';
import { SelectField } from '../ui/select.tsx';
import { UsdField } from '../ui/usd-field.tsx';
import { feeText } from './fee-text.ts';
import { lateTexts, operatorsLate, percentOf } from './link-draft.ts';
import type { LinkPartProps } from './link-part.ts';

/** Where the money goes, and in which token. */
export function WalletFields({
  draft,
  change,
  faults,
  error,
  accounts,
}: LinkPartProps & { readonly accounts: readonly Account[] }) {
  const nameOf = useTokenNames();
  const closureOf = useTokenClosure();
  const closure = closureOf(draft.settlementToken);
  const taken = accounts.find(({ accountId }) => accountId === draft.accountId)?.settlementCurrencies ?? [];
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <SelectField
        label="Wallet"
        value={draft.accountId}
        onChange={(accountId) => change({ accountId })}
        options={[
          ...(draft.accountId === '' ? [{ value: '', label: 'Choose a wallet', isDisabled: true }] : []),
          ...accounts.map(({ accountId, accountName, accountAddress }) => ({
            value: accountId,
            label: `${isolated(accountName)} (${shortAddress(accountAddress)})`,
          })),
        ]}
        error={faults['accountId'] ?? fieldError(error, 'accountId')}
      />
      <SelectField
        label="You receive"
        value={draft.settlementToken}
        onChange={(settlementToken) => change({ settlementToken })}
        options={[
          ...(draft.settlementToken === '' ? [{ value: '', label: 'Choose a token', isDisabled: true }] : []),
          ...taken.map((tokenId) => ({ value: tokenId, label: nameOf(tokenId) })),
        ]}
        note={
          closure === undefined
            ? undefined
            : `It is ${closure}. Until that ends, the link takes no payment, in any token: choose another one here, or wait.`
        }
        error={faults['settlementToken'] ?? fieldError(error, 'settlementToken')}
      />
    </div>
  );
}

/** When the link ends by itself. */
export function LimitFields({ draft, change, faults, error }: LinkPartProps) {
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2 [&>*]:min-w-0">
      <TextField
        label="Payments in all"
        hint="The link is disabled after so many."
        isOptional
        inputMode="numeric"
        maxLength={7}
        placeholder="No limit"
        value={draft.maxPayments}
        onChange={(maxPayments) => change({ maxPayments })}
        error={faults['maxPayments'] ?? fieldError(error, 'maxPayments')}
      />
      <TextField
        label="Ends on"
        hint="The link is disabled from then on."
        isOptional
        type="datetime-local"
        value={draft.activeUntil}
        onChange={(activeUntil) => change({ activeUntil })}
        error={faults['activeUntil'] ?? fieldError(error, 'activeUntil')}
      />
    </div>
  );
}

/** What becomes of money that comes late, or short. */
export function PolicyFields({ draft, change, faults, error }: LinkPartProps) {
  const wrong = (field: string) => faults[field] ?? fieldError(error, `exceptionPolicy.${field}`);
  const operators = useRead('GET /token/list', {}).data?.depositPolicy ?? undefined;
  return (
    <fieldset>
      <legend className="font-medium">Short and late transfers</legend>
      <p className="mb-2 text-sm text-soft">
        An empty field follows the operator’s setting{operators !== undefined && ', which it shows in grey'}.
      </p>
      <div className="grid items-start gap-4 sm:grid-cols-2 [&>*]:min-w-0">
        <SelectField
          label="Money that comes late"
          value={draft.latePayment}
          onChange={(latePayment) => change({ latePayment })}
          options={(['', 'return', 'ask', 'accept'] as const).map((value) => ({
            value,
            label: value === '' ? operatorsLate(operators) : lateTexts[value],
          }))}
          error={wrong('latePayment')}
        />
        <TextField
          label="Hours to accept it in"
          isOptional
          inputMode="numeric"
          maxLength={3}
          placeholder={operators && String(operators.lateHours)}
          value={draft.lateHours}
          onChange={(lateHours) => change({ lateHours })}
          error={wrong('lateHours')}
        />
        <TextField
          label="May be short by"
          isOptional
          suffix="%"
          inputMode="decimal"
          maxLength={7}
          placeholder={operators && percentOf(operators.underpaidPpm)}
          value={draft.underpaidPercent}
          onChange={(underpaidPercent) => change({ underpaidPercent })}
          error={faults['underpaidPercent'] ?? wrong('underpaidPpm')}
        />
        <UsdField
          label="And by no more than"
          isOptional
          placeholder={
            operators &&
            (operators.underpaidAmount === undefined ? 'No limit' : typedUsd(operators.underpaidAmount))
          }
          value={draft.underpaidAmount}
          onChange={(underpaidAmount) => change({ underpaidAmount })}
          error={wrong('underpaidAmount')}
        />
      </div>
    </fieldset>
  );
}

/** Who pays the fee, and what the payer is asked and shown. */
export function PayerFields({ draft, change, error }: LinkPartProps) {
  const tokens = useRead('GET /token/list', {});
  // During an update a web process of the version before may answer, which does not have the fees.
  const fee = feeText(tokens.data?.feeRates, tokens.data?.tokens);
  const withFee = (words: string) => (fee === '' ? `${words}.` : `${words}: ${fee}.`);
  return (
    <>
      <ChoiceField
        label="The fee"
        value={String(draft.feeModel) as '1' | '2'}
        onChange={(feeModel) => change({ feeModel: feeModel === '2' ? 2 : 1 })}
        options={[
          { value: '1', label: 'You pay it', hint: withFee('It comes off what you receive') },
          { value: '2', label: 'The payer pays it', hint: withFee('It comes on top of the price') },
        ]}
      />
      <CheckField
        label="Ask for the payer’s e-mail"
        hint="The payment starts only after the payer wrote one."
        isChecked={draft.isEmailRequired}
        onChange={(isEmailRequired) => change({ isEmailRequired })}
      />
      <TextField
        label="Page after payment"
        hint="Florin sends the payer there. It puts the id of the payment in place of {SESSION_ID}."
        isOptional
        type="url"
        maxLength={1000}
        placeholder="https://"
        value={draft.successUrl}
        onChange={(successUrl) => change({ successUrl })}
        error={fieldError(error, 'successUrl')}
      />
      <CheckField
        label="Go there without a click"
        hint="Five seconds after the payment is final. The payer can stop it."
        isChecked={draft.autoReturn === 'paid'}
        onChange={(isAutomatic) => change({ autoReturn: isAutomatic ? 'paid' : 'never' })}
      />
      <TextField
        label="Page for payers who do not pay"
        hint="They go back there by a link on the page, also when the time to pay is over."
        isOptional
        type="url"
        maxLength={1000}
        placeholder="https://"
        value={draft.cancelUrl}
        onChange={(cancelUrl) => change({ cancelUrl })}
        error={fieldError(error, 'cancelUrl')}
      />
      <AreaField
        label="Text after payment"
        isOptional
        rows={2}
        maxLength={500}
        placeholder="Thank you! We ship on the next working day."
        value={draft.customSuccessText}
        onChange={(customSuccessText) => change({ customSuccessText })}
        error={fieldError(error, 'customSuccessText')}
      />
    </>
  );
}
