//! The E-model: the quality of a narrow-band telephone conversation from its delay, its losses and its codec (ITU-T
//! Recommendation G.107, 06/2015). Numbers of equations are those of the Recommendation.
//!
//! All parameters that no argument gives have their default values of table 3, among them an echo loss of 65 dB.

/// Send and receive loudness ratings, dB.
const SLR: f64 = 8.0;
const RLR: f64 = 2.0;
/// Sidetone masking rating and listener sidetone rating, dB.
const STMR: f64 = 15.0;
const LSTR: f64 = 18.0;
/// D-value of the telephone at the sending side.
const DS: f64 = 3.0;
/// Talker echo loudness rating and weighted echo path loss, dB.
const TELR: f64 = 65.0;
const WEPL: f64 = 110.0;
/// Quantisation distortion units.
const QDU: f64 = 1.0;
/// Circuit noise (dBm0p), noise floor at the receiving side (dBmp), room noise at either side (dB(A)).
const NC: f64 = -70.0;
const N_FOR: f64 = -64.0;
const PS: f64 = 35.0;
const PR: f64 = 35.0;
/// Delay sensitivity and minimum perceivable delay (ms) of usual conversations.
const S_T: f64 = 1.0;
const M_T: f64 = 100.0;

/// How a codec's packets bear losses (ITU-T Recommendation G.113, appendix I).
#[derive(Clone, Copy, Debug)]
pub struct Robustness {
    /// The equipment impairment factor Ie without losses.
    pub impairment: f64,
    /// The packet-loss robustness factor Bpl.
    pub loss_robustness: f64,
}

/// The transmission rating R of a conversation.
///
/// `delay` is the mouth-to-ear delay in seconds: it is the absolute delay Ta, the mean one-way delay of the echo path T, and
/// half the round-trip delay Tr. `loss` is the share of packets that are not played, 0 to 1; they are lost independently
/// (`BurstR` = 1). There is no advantage of access (A = 0).
pub fn rating(delay: f64, loss: f64, codec: Robustness) -> f64 {
    let noise = noise();
    let basic = 15.0 - 1.5 * (SLR + noise); // (7-2)
    basic - simultaneous(basic, noise, delay * 1e3) - delayed(basic, noise, delay * 1e3) - equipment(loss, codec) // (7-1)
}

/// The mean opinion score of a conversation, from 1 to 4.5 (G.107, annex B). The cubic falls below 1 where R is below 6.5.
pub fn mean_opinion_score(rating: f64) -> f64 {
    let rating = rating.clamp(0.0, 100.0);
    (1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6).max(1.0)
}

/// The sum of all noise, No.
fn noise() -> f64 {
    let overall = SLR + RLR;
    let at_sender = PS - SLR - DS - 100.0 + 0.004 * square(PS - overall - DS - 14.0); // (7-4)
    let heard = PR + decibels(1.0 + power((10.0 - LSTR) / 10.0)); // (7-6)
    let at_receiver = RLR - 121.0 + heard + 0.008 * square(heard - 35.0); // (7-5)
    let floor = N_FOR + RLR; // (7-7)
    decibels([NC, at_sender, at_receiver, floor].iter().map(|noise| power(noise / 10.0)).sum()) // (7-3)
}

/// Is: impairments that occur with the voice, and grow little with the delay (ms) of the echo path.
fn simultaneous(basic: f64, noise: f64, delay: f64) -> f64 {
    let loudness = SLR + RLR + 0.2 * (64.0 + noise - RLR); // (7-10)
    let too_loud = 20.0 * (smooth(loudness / 8.0, 8.0) - loudness / 8.0); // (7-9)
    let sidetone = -decibels(power(-STMR / 10.0) + libm::exp(-delay / 4.0) * power(-TELR / 10.0)); // (7-12)
    let sidetone = 12.0 * smooth((sidetone - 13.0) / 6.0, 8.0)
        - 28.0 * smooth((sidetone + 1.0) / 19.4, 35.0)
        - 13.0 * smooth((sidetone - 3.0) / 33.0, 13.0)
        + 29.0; // (7-11)
    let quantised = 37.0 - 15.0 * libm::log10(QDU); // (7-17)
    let quantised = 1.07 + 0.258 * quantised + 0.0602 * square(quantised); // (7-16)
    let y = (basic - 100.0) / 15.0 + 46.0 / 8.4 - quantised / 9.0; // (7-14)
    let z = 46.0 / 30.0 - quantised / 40.0; // (7-15)
    too_loud + sidetone + 1.5 * decibels(1.0 + power(y) + power(z)) // (7-8), (7-13)
}

/// Id: impairments by delay (ms), of talker echo, of listener echo, and of the delay itself. STMR is from 9 to 20 dB.
fn delayed(basic: f64, noise: f64, delay: f64) -> f64 {
    let echo =
        TELR - 4.0 * decibels((1.0 + delay / 10.0) / (1.0 + delay / 150.0)) + 6.0 * libm::exp(-0.3 * square(delay)); // (7-22)
    let difference = (-1.5 * (noise - RLR) - (80.0 + 2.5 * (echo - 14.0))) / 2.0; // (7-20), (7-21)
    let talker = (difference + (square(difference) + 100.0).sqrt() - 1.0) * (1.0 - libm::exp(-delay)); // (7-19)
    let difference = (basic - 10.5 * (WEPL + 7.0) * libm::pow(2.0 * delay + 1.0, -0.25)) / 2.0; // (7-26)
    let listener = difference + (square(difference) + 169.0).sqrt(); // (7-25)
    talker + listener + absolute(delay) // (7-18)
}

/// Idd: the impairment by delay (ms) even with perfect echo cancelling (7-27).
fn absolute(delay: f64) -> f64 {
    if delay <= M_T {
        return 0.0;
    }
    let doublings = libm::log2(delay / M_T); // (7-28)
    25.0 * (smooth(doublings, 6.0 * S_T) - 3.0 * smooth(doublings / 3.0, 6.0 * S_T) + 2.0)
}

/// Ie,eff: the impairment by codec and losses (7-29).
fn equipment(loss: f64, codec: Robustness) -> f64 {
    let percent = 100.0 * loss;
    codec.impairment + (95.0 - codec.impairment) * percent / (percent + codec.loss_robustness)
}

/// (1 + x^n)^(1/n), which passes smoothly from 1 to x.
fn smooth(x: f64, exponent: f64) -> f64 {
    libm::pow(1.0 + libm::pow(x, exponent), 1.0 / exponent)
}

fn square(x: f64) -> f64 {
    x * x
}

fn power(exponent: f64) -> f64 {
    libm::pow(10.0, exponent)
}

fn decibels(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G.711 without loss concealment: nothing is impaired unless packets are lost.
    const NONE: Robustness = Robustness { impairment: 0.0, loss_robustness: 4.3 };

    /// G.107, 7.1: all defaults give R = 93.2; table B.1 makes that a score of 4.41.
    #[test]
    fn default_rating() {
        let rating = rating(0.0, 0.0, NONE);
        assert_eq!(
            (format!("{rating:.1}"), format!("{:.2}", mean_opinion_score(rating))),
            ("93.2".into(), "4.41".into())
        );
    }

    /// G.107, table B.1: the scores at the lower limits of the categories of speech quality. The ends are 1 and 4.5.
    #[test]
    fn published_scores() {
        for (rating, score) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            assert!((mean_opinion_score(rating) - score).abs() < 0.0065, "{rating}: {}", mean_opinion_score(rating));
        }
        assert_eq!([-5.0, 0.0, 3.0, 100.0, 120.0].map(mean_opinion_score), [1.0, 1.0, 1.0, 4.5, 4.5]);
    }

    /// Cole and Rosenbluth (Computer Communication Review 31(2), 2001) fit the impairment by delay, with the default echo loss,
    /// as 0.024 d + 0.11 (d - 177.3) H(d - 177.3) below 400 ms.
    #[test]
    fn delay_as_published_fit() {
        for delay in [25.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0] {
            let fit = 0.024 * delay + 0.11 * f64::max(delay - 177.3, 0.0);
            let lost = rating(0.0, 0.0, NONE) - rating(delay / 1e3, 0.0, NONE);
            assert!((lost - fit).abs() < 1.0, "{delay} ms: {lost}, published {fit}");
        }
    }

    /// G.113, appendix I: as many percent of losses as Bpl cost half of what is left of 95; G.729A with losses of 2 % is at 19.
    #[test]
    fn losses_as_published() {
        let impaired = |loss, codec| rating(0.0, 0.0, NONE) - rating(0.0, loss, codec);
        assert!((impaired(0.043, NONE) - 47.5).abs() < 1e-9);
        let g729a = Robustness { impairment: 11.0, loss_robustness: 19.0 };
        assert!((impaired(0.0, g729a) - 11.0).abs() < 1e-9);
        assert!((impaired(0.02, g729a) - 19.0).abs() < 0.5, "{}", impaired(0.02, g729a));
    }
}
