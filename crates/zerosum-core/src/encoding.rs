//! The planes of one position, in memory of their own.

use crate::game::{Game, GameSpec, PlaneKind, Planes};

/// Memory for the bit planes (zeroed) and the constant planes of one position.
pub fn plane_buffers(spec: &GameSpec) -> (Vec<u8>, Vec<f32>) {
    let num_bytes = spec.num_planes(PlaneKind::Bits) * spec.bytes_per_plane();
    (vec![0; num_bytes], vec![0.0; spec.num_planes(PlaneKind::Constant)])
}

/// The packed bit planes and the constant planes of one position.
pub fn encoded<G: Game>(game: &G, state: &G::State) -> (Vec<u8>, Vec<f32>) {
    let (mut bits, mut constants) = plane_buffers(game.spec());
    game.encode(state, &mut Planes::new(&mut bits, &mut constants, game.spec().bytes_per_plane()));
    (bits, constants)
}
