import { CircleAlert, Link2, Trash2, Upload } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { sayFailure } from '../api/failure.ts';
import { uploadImage } from '../api/upload-image.ts';
import { useAct } from '../api/use-act.ts';
import { useMerchantId } from '../app/merchant.ts';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { hostedImagePath } from './hosted-image.ts';
import { Picture } from './picture.tsx';

/** How many pictures of a form are on their way. A form that is saved meanwhile would be saved without them. */
export function useUploads() {
  const [running, setRunning] = useState(0);
  const track = async <Answer,>(upload: Promise<Answer>): Promise<Answer> => {
    setRunning((count) => count + 1);
    try {
      return await upload;
    } finally {
      setRunning((count) => count - 1);
    }
  };
  return { isUploading: running > 0, track };
}

export type TrackUpload = ReturnType<typeof useUploads>['track'];

/** A picture from this device or from an address. Its value is an address; an uploaded picture has one of the service. */
export function ImageField({
  label,
  hint,
  value,
  onChange,
  track,
  error,
  fit,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  /** Called after an upload as well, when other fields may have changed: it must build on the latest draft. */
  readonly onChange: (url: string) => void;
  readonly track: TrackUpload;
  readonly error: string | undefined;
  readonly fit?: 'cover' | 'contain';
}) {
  const id = useId();
  const merchantId = useMerchantId();
  const chooser = useRef<HTMLInputElement>(null);
  const isHosted = hostedImagePath(value, 96) !== undefined;
  const [isTyping, setTyping] = useState(false);
  const upload = useAct(async (file: Blob) => {
    onChange(await track(uploadImage(merchantId, file)));
    setTyping(false);
  });
  const change = (url: string) => {
    upload.reset();
    onChange(url);
  };
  const isAddressShown = isTyping || (value !== '' && !isHosted);
  return (
    <fieldset aria-describedby={`${id}-hint`}>
      <legend className="font-medium">
        {label}
        <span className="ml-1.5 font-normal text-faint">optional</span>
      </legend>
      <p id={`${id}-hint`} className="mb-2 text-sm text-soft">
        {hint}
      </p>
      <div className="flex items-center gap-4">
        <Picture url={value} size="large" {...(fit === undefined ? {} : { fit })} />
        {/* Without acts for a role that changes nothing. */}
        <div className="flex min-w-0 flex-wrap gap-2 in-[fieldset:disabled]:hidden">
          <input
            ref={chooser}
            type="file"
            accept="image/*"
            aria-label={`${label} from this device`}
            tabIndex={-1}
            className="sr-only"
            onChange={({ target }) => {
              const file = target.files?.[0];
              if (file !== undefined) void upload.run(file);
              // The same file can be chosen again.
              target.value = '';
            }}
          />
          <Button icon={<Upload />} isBusy={upload.isRunning} onClick={() => chooser.current?.click()}>
            {isHosted ? 'Upload another' : 'Upload'}
          </Button>
          {!isAddressShown && (
            <Button icon={<Link2 />} onClick={() => setTyping(true)}>
              Use an address
            </Button>
          )}
          {(value !== '' || isTyping) && (
            <Button
              kind="quiet"
              icon={<Trash2 />}
              onClick={() => {
                change('');
                setTyping(false);
              }}
            >
              Remove
            </Button>
          )}
        </div>
      </div>
      {upload.error !== undefined && (
        <p role="alert" className="mt-1.5 flex items-start gap-1.5 text-sm text-bad">
          <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          {sayFailure(upload.error)}
        </p>
      )}
      {isAddressShown && (
        <TextField
          label="Address of the picture"
          type="url"
          inputMode="url"
          className="mt-3"
          autoFocus={isTyping}
          placeholder="https://"
          maxLength={500}
          value={isHosted ? '' : value}
          onChange={change}
          error={error}
        />
      )}
    </fieldset>
  );
}
