# A telephone without a screen: phone.sh NAME ADDRESS SECONDS [WHOM]. It takes calls and ends after so long; with WHOM it makes one.
set -eu
mkdir "/tmp/$1"
cat > "/tmp/$1/config" <<END
sip_listen 0.0.0.0:5060
module_path $(echo /usr/lib*/baresip/modules)
module g711.so
module aufile.so
module_tmp account.so
module_app menu.so
statmode_default off
rtp_stats yes
audio_source aufile,/tmp/$1/voice.wav
audio_player aufile,/tmp/$1/heard.wav
audio_alert aufile,/tmp/$1/ring.wav
END
echo "<sip:$1@$2>;regint=0;answermode=auto;audio_codecs=pcmu" > "/tmp/$1/accounts"
touch "/tmp/$1/contacts"
# What it says is a tone of 400 Hz, of samples of 16 bits at 8 kHz.
python3 - "/tmp/$1/voice.wav" "$3" <<'END'
import math, struct, sys, wave
with wave.open(sys.argv[1], "wb") as voice:
    voice.setparams((1, 2, 8000, 0, "NONE", ""))
    period = struct.pack("<20h", *(round(8000 * math.sin(math.pi * place / 10)) for place in range(20)))
    voice.writeframes(period * 400 * int(sys.argv[2]))
END
exec baresip -f "/tmp/$1" -t "$3" ${4:+-e "/dial $4"}
