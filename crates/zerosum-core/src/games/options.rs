//! Options of games as people write them: `go(size=7, komi=7.5)`.

use std::fmt::{self, Display, Write};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The options in brackets behind a game's name. A game asks for each of its options; options for which it does not ask
/// are unknown to it.
#[derive(Debug, Default)]
pub struct Options {
    game: String,
    given: Vec<(String, String)>,
    values: OptionValues,
}

/// One option that a game has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// The name of the option.
    pub name: &'static str,
    /// The value if none is given.
    pub default: String,
    /// The allowed values, in words.
    pub expected: String,
}

/// The values of a game's options, and the options that the game has.
#[derive(Clone, Debug, Default)]
pub struct OptionValues {
    /// Options with other values than their defaults, in the order of the game's questions: `size=9, komi=5.5`.
    pub text: String,
    /// All options for which the game asked.
    pub known: Vec<OptionSpec>,
}

impl Display for OptionValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Options {
    /// Splits `name(option=value, …)` into the name and its options.
    ///
    /// # Errors
    /// A sentence, if the brackets or an option are malformed or one is given twice.
    pub fn parse(text: &str) -> Result<(String, Self), String> {
        let text = text.trim();
        let (name, inside) = match text.split_once('(') {
            None => (text, ""),
            Some((name, rest)) => {
                let (inside, behind) =
                    rest.split_once(')').ok_or_else(|| format!("{text:?} lacks its closing bracket"))?;
                if !behind.is_empty() {
                    return Err(format!("{text:?} has {behind:?} behind its closing bracket, expected nothing"));
                }
                (name.trim(), inside)
            }
        };
        let mut given: Vec<(String, String)> = Vec::new();
        for option in inside.split(',').map(str::trim).filter(|option| !option.is_empty()) {
            let (key, value) = option
                .split_once('=')
                .ok_or_else(|| format!("{name}: the option {option:?} has no value, expected name=value"))?;
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            if given.iter().any(|(other, _)| *other == key) {
                return Err(format!("{name}: the option {key} is given twice"));
            }
            given.push((key, value));
        }
        Ok((name.to_owned(), Self { game: name.to_owned(), given, values: OptionValues::default() }))
    }

    /// Adds an option, as if it were in the brackets.
    ///
    /// # Errors
    /// A sentence, if the option is given already.
    pub fn give(&mut self, name: &str, value: &str) -> Result<(), String> {
        if self.given.iter().any(|(other, _)| other == name) {
            return Err(format!("{}: {name}={value} is implied, and the option {name} is given, too", self.game));
        }
        self.given.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Replaces `name=word` by the options for which the word stands.
    ///
    /// # Errors
    /// A sentence, if the word is unknown or one of its options is given, too.
    pub fn replace(&mut self, name: &str, meanings: &[(&str, &[(&str, &str)])]) -> Result<(), String> {
        let Some(index) = self.given.iter().position(|(key, _)| key == name) else { return Ok(()) };
        let (_, found) = self.given.remove(index);
        let Some((_, options)) = meanings.iter().find(|(word, _)| *word == found) else {
            let words: Vec<_> = meanings.iter().map(|(word, _)| *word).collect();
            return Err(format!("{}: {name} is {found:?}, expected {}", self.game, words.join(" or ")));
        };
        options.iter().try_for_each(|(other, value)| self.give(other, value))
    }

    /// The value of an option, or its default.
    fn take<T: PartialEq + Display>(
        &mut self,
        name: &'static str,
        default: T,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, String> {
        let spec = OptionSpec { name, default: default.to_string(), expected: expected.to_owned() };
        self.values.known.push(spec);
        let Some((_, text)) = self.given.iter().find(|(key, _)| key == name) else { return Ok(default) };
        let value = read(text).ok_or_else(|| format!("{}: {name} is {text:?}, expected {expected}", self.game))?;
        if value != default {
            let canonical = &mut self.values.text;
            let comma = if canonical.is_empty() { "" } else { ", " };
            write!(canonical, "{comma}{name}={value}").expect("a string takes any text");
        }
        Ok(value)
    }

    /// A number in a range.
    ///
    /// # Errors
    /// A sentence, if the value is not allowed.
    pub fn number<T: FromStr + PartialOrd + Display>(
        &mut self,
        name: &'static str,
        default: T,
        range: RangeInclusive<T>,
    ) -> Result<T, String> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        self.take(name, default, &expected, |text| text.parse().ok().filter(|number| range.contains(number)))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// A sentence, if the value is neither of them.
    pub fn flag(&mut self, name: &'static str, default: bool) -> Result<bool, String> {
        self.take(name, default, "true or false", |text| text.parse().ok())
    }

    /// One of `words`; the first is the default.
    ///
    /// # Errors
    /// A sentence, if the value is not one of them.
    pub fn choice(&mut self, name: &'static str, words: &[&'static str]) -> Result<&'static str, String> {
        let expected = format!("one of {}", words.join(", "));
        self.take(name, words[0], &expected, |text| words.iter().copied().find(|word| *word == text))
    }

    /// Several numbers, `1-3-5-7`, as many as `count` allows.
    ///
    /// # Errors
    /// A sentence, if the value is malformed or a number is out of range.
    pub fn numbers(
        &mut self,
        name: &'static str,
        default: &str,
        range: RangeInclusive<u8>,
        count: RangeInclusive<usize>,
    ) -> Result<Vec<u8>, String> {
        let read = |text: &str| -> Option<Vec<u8>> {
            let numbers: Vec<u8> = text.split('-').map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
            (count.contains(&numbers.len()) && numbers.iter().all(|number| range.contains(number))).then_some(numbers)
        };
        let write = |numbers: &[u8]| numbers.iter().map(u8::to_string).collect::<Vec<_>>().join("-");
        let (start, end, least, most) = (range.start(), range.end(), count.start(), count.end());
        let expected = format!("{least} to {most} numbers from {start} to {end} such as {default}");
        let text = self.take(name, default.to_owned(), &expected, |text| read(text).map(|numbers| write(&numbers)))?;
        Ok(read(&text).expect("the default and what was taken are well formed"))
    }

    /// The ply cap, an option of every game.
    ///
    /// # Errors
    /// A sentence, if the value is out of range.
    pub fn max_plies(&mut self, default: u32) -> Result<u32, String> {
        self.number("max_plies", default, 1..=u32::from(u16::MAX))
    }

    /// The options of games whose planes show up to `most` positions: the number of positions, and true if a position
    /// that was set up also stands for the positions before it.
    ///
    /// # Errors
    /// A sentence, if a value is none.
    pub fn history(&mut self, most: usize) -> Result<(usize, bool), String> {
        let history = self.number("history", most, 1..=most)?;
        Ok((history, self.choice("history_fill", &["repeat", "zero"])? == "repeat"))
    }

    /// The options in one canonical form.
    ///
    /// # Errors
    /// A sentence, if an option is given for which the game did not ask.
    pub fn canonical(self) -> Result<OptionValues, String> {
        let known: Vec<_> = self.values.known.iter().map(|option| option.name).collect();
        match self.given.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            None => Ok(self.values),
            Some((key, _)) => Err(format!("{} has no option {key:?}; available: {}", self.game, known.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OptionSpec, Options};

    fn canonical(text: &str) -> Result<(u32, f64, bool, &'static str, String), String> {
        let (_, mut options) = Options::parse(text)?;
        let size = options.number("size", 9, 5..=25)?;
        let komi = options.number("komi", 7.5, -100.0..=100.0)?;
        let (suicide, king) = (options.flag("suicide", false)?, options.choice("king", &["csa27", "none"])?);
        Ok((size, komi, suicide, king, options.canonical()?.text))
    }

    #[test]
    fn options_have_one_canonical_text() {
        assert_eq!(canonical("go").unwrap(), (9, 7.5, false, "csa27", String::new()));
        assert_eq!(canonical("go()").unwrap().4, "");
        let (size, komi, suicide, king, text) = canonical(" go ( king=none,komi = 7 , size=9, suicide=true )").unwrap();
        assert_eq!((size, komi, suicide, king), (9, 7.0, true, "none"));
        assert_eq!(text, "komi=7, suicide=true, king=none", "defaults are left out, the game's order is kept");
        assert_eq!(canonical(&format!("go({text})")).unwrap().4, text);
    }

    #[test]
    fn options_stand_for_others() {
        let canonical = |text: &str| {
            let (_, mut options) = Options::parse(text)?;
            options.give("size", "9")?;
            options.replace("rules", &[("tromp-taylor", &[("suicide", "true")])])?;
            options.number("size", 19, 5..=25)?;
            options.flag("suicide", false)?;
            Ok::<_, String>(options.canonical()?.text)
        };
        assert_eq!(canonical("go9").unwrap(), "size=9");
        assert_eq!(canonical("go9(rules=tromp-taylor)").unwrap(), "size=9, suicide=true");
        for (text, sentence) in [
            ("go9(size=13)", "go9: size=9 is implied, and the option size is given, too"),
            ("go9(rules=chinese)", "go9: rules is \"chinese\", expected tromp-taylor"),
            (
                "go9(suicide=false, rules=tromp-taylor)",
                "go9: suicide=true is implied, and the option suicide is given, too",
            ),
        ] {
            assert_eq!(canonical(text).unwrap_err(), sentence);
        }
    }

    #[test]
    fn what_a_game_asks_for_is_known() {
        let (_, mut options) = Options::parse("go(suicide=true)").unwrap();
        options.number("size", 9, 5..=25).unwrap();
        options.flag("suicide", false).unwrap();
        let option = |name, default: &str, expected: &str| OptionSpec {
            name,
            default: default.into(),
            expected: expected.into(),
        };
        let known = vec![option("size", "9", "a number from 5 to 25"), option("suicide", "false", "true or false")];
        assert_eq!(options.canonical().unwrap().known, known);
    }

    #[test]
    fn several_numbers_are_one_option() {
        let numbers = |text: &str| {
            let (_, mut options) = Options::parse(text)?;
            let numbers = options.numbers("heaps", "1-3-5-7", 1..=9, 1..=4)?;
            Ok::<_, String>((numbers, options.canonical()?.text))
        };
        assert_eq!(numbers("nim").unwrap(), (vec![1, 3, 5, 7], String::new()));
        assert_eq!(numbers("nim(heaps = 2 - 05)").unwrap(), (vec![2, 5], "heaps=2-5".to_owned()));
        for text in ["", "1-", "0-1", "10", "1-1-1-1-1", "1;2", "a", "256", "-1"] {
            let sentence = format!("nim: heaps is {text:?}, expected 1 to 4 numbers from 1 to 9 such as 1-3-5-7");
            assert_eq!(numbers(&format!("nim(heaps={text})")).unwrap_err(), sentence);
        }
    }

    #[test]
    fn malformed_options_are_named() {
        for (text, sentence) in [
            ("go(size=9", "\"go(size=9\" lacks its closing bracket"),
            ("go(size=9)x", "\"go(size=9)x\" has \"x\" behind its closing bracket, expected nothing"),
            ("go(size=9))", "\"go(size=9))\" has \")\" behind its closing bracket, expected nothing"),
            ("go(size)", "go: the option \"size\" has no value, expected name=value"),
            ("go(size=4)", "go: size is \"4\", expected a number from 5 to 25"),
            ("go(size=9, size=9)", "go: the option size is given twice"),
            ("go(komi=NaN)", "go: komi is \"NaN\", expected a number from -100 to 100"),
            ("go(suicide=yes)", "go: suicide is \"yes\", expected true or false"),
            ("go(king=try)", "go: king is \"try\", expected one of csa27, none"),
            ("go(sise=9)", "go has no option \"sise\"; available: size, komi, suicide, king"),
        ] {
            assert_eq!(canonical(text).unwrap_err(), sentence);
        }
    }
}
