import { permissionPresets, permissions } from '@florin/protocol/permission.ts';
import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { serviceNow } from '../api/service-clock.ts';
import { useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { parseUsd, usdFault } from '../ui/amount.ts';
import { Button } from '../ui/button.tsx';
import { ChoiceField } from '../ui/choice.tsx';
import { CancelButton, DialogActions, Sheet } from '../ui/dialog.tsx';
import { differs, useDraftGuard } from '../ui/draft-guard.tsx';
import { AreaField, TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { Secret } from '../ui/secret.tsx';
import { SelectField } from '../ui/select.tsx';
import { UsdField } from '../ui/usd-field.tsx';
import { type Grant, grantOf, linesOf, permissionsOf } from './grant.ts';
import { GrantTable } from './grant-table.tsx';
import { mostKeyName } from './rename-key.tsx';

type Kind = 'restricted' | 'secret';
const daySeconds = 86_400;

/** How long a key lives. Chosen by days, so that no person picks a date. */
const lives = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
  { value: '', label: 'It never ends' },
];

const presets = [
  { value: 'storefront', label: 'Storefront: create sessions and read them' },
  { value: 'fulfilment', label: 'Fulfilment: read payments and payers' },
  { value: 'agent', label: 'Agent: sell through links and sessions' },
  { value: 'read_only', label: 'Read only: everything without payers and secrets' },
  { value: 'own', label: 'My own choice' },
] as const;
type Preset = (typeof presets)[number]['value'];

type Faults = Partial<Record<'maxSession' | 'maxDay' | 'grant', string>>;

interface Draft {
  readonly name: string;
  readonly kind: Kind;
  readonly preset: Preset;
  readonly grant: Grant;
  readonly life: string;
  readonly maxSession: string;
  readonly maxDay: string;
  readonly ips: string;
  readonly origins: string;
}

const first: Draft = {
  name: '',
  kind: 'restricted',
  preset: 'storefront',
  grant: grantOf(permissionPresets.storefront),
  life: '365',
  ...{ maxSession: '', maxDay: '', ips: '', origins: '' },
};

/** Makes a key and shows it once. */
export function CreateKeySheet({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const [key, setKey] = useState<string>();
  const close = () => {
    setKey(undefined);
    onClose();
  };
  return (
    <Sheet
      isOpen={isOpen}
      onClose={close}
      isHeld={key !== undefined}
      title={key === undefined ? 'Create a key' : 'Your new key'}
      description={key === undefined ? undefined : 'Put it where your program reads its secrets.'}
    >
      {key === undefined ? (
        <CreateForm onMade={setKey} onClose={close} />
      ) : (
        <>
          <Secret label="API key" text={key} />
          <DialogActions>
            <Button onClick={close}>Done</Button>
          </DialogActions>
        </>
      )}
    </Sheet>
  );
}

const ownFields = ['name', 'maxSessionAmount', 'maxDayAmount', 'ipAllowList', 'origins'];
/** Micro-USD: the most that the service takes as a limit of a key. */
const mostLimit = 9_000_000_000_000_000;

function CreateForm({
  onMade,
  onClose,
}: {
  readonly onMade: (key: string) => void;
  readonly onClose: () => void;
}) {
  const { role } = useMerchant();
  const [draft, setDraft] = useState(first);
  const [wrong, setWrong] = useState<Faults>({});
  const create = useWrite('POST /key/create');
  const guard = useDraftGuard(differs(draft, first), onClose);
  const change = (changed: Partial<Draft>) => setDraft({ ...draft, ...changed });
  const hasAll = permissions.every((permission) => mayDo(role, permission));
  const submit = async () => {
    const faults = faultsOf(draft);
    setWrong(faults);
    if (Object.keys(faults).length > 0) return;
    const reply = await create.run({ body: bodyOf(draft) });
    if (reply === undefined) return;
    guard.release();
    onMade(reply.key);
  };
  return (
    <form onSubmit={onSubmit(submit)} noValidate className="grid gap-5">
      <TextField
        label="Name"
        hint="What uses the key. Your team sees it in the list and in e-mails."
        isOptional
        maxLength={mostKeyName}
        placeholder="Web shop, live"
        value={draft.name}
        onChange={(name) => change({ name })}
        error={fieldError(create.error, 'name')}
      />
      <ChoiceField
        label="Kind"
        value={draft.kind}
        onChange={(kind) => change({ kind })}
        options={[
          {
            value: 'restricted',
            label: 'Restricted key',
            hint: 'Does only what you choose. Right for nearly all.',
          },
          ...(hasAll
            ? [
                {
                  value: 'secret' as const,
                  label: 'Secret key',
                  hint: 'Does everything, refunds included. For your server alone.',
                },
              ]
            : []),
        ]}
      />
      {draft.kind === 'restricted' && (
        <>
          <SelectField<Preset>
            label="For"
            value={draft.preset}
            options={presets}
            onChange={(preset) =>
              change({ preset, grant: preset === 'own' ? draft.grant : grantOf(permissionPresets[preset]) })
            }
          />
          <GrantTable
            role={role}
            grant={draft.grant}
            error={wrong.grant}
            onChange={(grant) => change({ grant, preset: 'own' })}
          />
        </>
      )}
      <LimitFields draft={draft} change={change} wrong={wrong} error={create.error} />
      <DialogActions notice={<FailureNotice error={create.error} fields={ownFields} />}>
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={create.isRunning}>
          Create the key
        </Button>
      </DialogActions>
      {guard.question}
    </form>
  );
}

/** The limits that a key of any kind may have. */
function LimitFields({
  draft,
  change,
  wrong,
  error,
}: {
  readonly draft: Draft;
  readonly change: (changed: Partial<Draft>) => void;
  readonly wrong: Faults;
  readonly error: unknown;
}) {
  return (
    <>
      <SelectField
        label="Ends after"
        value={draft.life}
        options={lives}
        onChange={(life) => change({ life })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <UsdField
          label="Largest session"
          isOptional
          placeholder="No limit"
          value={draft.maxSession}
          onChange={(maxSession) => change({ maxSession })}
          error={wrong.maxSession ?? fieldError(error, 'maxSessionAmount')}
        />
        <UsdField
          label="Sessions of a day"
          isOptional
          placeholder="No limit"
          value={draft.maxDay}
          onChange={(maxDay) => change({ maxDay })}
          error={wrong.maxDay ?? fieldError(error, 'maxDayAmount')}
        />
      </div>
      <AreaField
        label="IP addresses"
        hint="One address or network on each line. Empty: from anywhere."
        isOptional
        rows={2}
        spellCheck={false}
        placeholder="203.0.113.7"
        value={draft.ips}
        onChange={(ips) => change({ ips })}
        error={fieldError(error, 'ipAllowList')}
      />
      {draft.kind === 'restricted' && (
        <AreaField
          label="Browser origins"
          hint="Web sites whose pages may use the key, one on each line. Empty: no browser."
          isOptional
          rows={2}
          spellCheck={false}
          placeholder="https://shop.example.com"
          value={draft.origins}
          onChange={(origins) => change({ origins })}
          error={fieldError(error, 'origins')}
        />
      )}
    </>
  );
}

function faultsOf({ kind, grant, maxSession, maxDay }: Draft): Faults {
  const faultOf = (typed: string) => (typed.trim() === '' ? undefined : usdFault(typed, { most: mostLimit }));
  const [most, mostOfDay] = [parseUsd(maxSession), parseUsd(maxDay)];
  const isOverDay = most !== undefined && mostOfDay !== undefined && most > mostOfDay;
  const session = faultOf(maxSession) ?? (isOverDay ? 'This is more than the limit of a day.' : undefined);
  const day = faultOf(maxDay);
  return {
    ...(session === undefined ? {} : { maxSession: session }),
    ...(day === undefined ? {} : { maxDay: day }),
    ...(kind === 'restricted' && permissionsOf(grant).length === 0 ? { grant: 'Choose at least one.' } : {}),
  };
}

function bodyOf({ name, kind, grant, life, maxSession, maxDay, ips, origins }: Draft) {
  const [maxSessionAmount, maxDayAmount] = [parseUsd(maxSession), parseUsd(maxDay)];
  const [ipAllowList, webOrigins] = [linesOf(ips), kind === 'secret' ? [] : linesOf(origins)];
  return {
    kind,
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(kind === 'secret' ? {} : { permissions: permissionsOf(grant) }),
    ...(life === '' ? {} : { expiresAt: Math.floor(serviceNow() / 1_000) + Number(life) * daySeconds }),
    ...(maxSessionAmount === undefined ? {} : { maxSessionAmount }),
    ...(maxDayAmount === undefined ? {} : { maxDayAmount }),
    ...(ipAllowList.length === 0 ? {} : { ipAllowList }),
    ...(webOrigins.length === 0 ? {} : { origins: webOrigins }),
  };
}
