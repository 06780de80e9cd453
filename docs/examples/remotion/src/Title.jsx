import {AbsoluteFill, interpolate, spring, useCurrentFrame, useVideoConfig} from 'remotion';

// A title that comes in over a plain colour, and a bar that says how far it is.
export const Title = ({title, colour}) => {
	const frame = useCurrentFrame();
	const {fps, durationInFrames} = useVideoConfig();
	const rise = spring({frame, fps, durationInFrames: 30});
	const width = interpolate(frame, [0, durationInFrames - 1], [0, 100]);
	return (
		<AbsoluteFill style={{backgroundColor: colour, color: 'white', fontFamily: 'sans-serif'}}>
			<AbsoluteFill style={{alignItems: 'center', justifyContent: 'center'}}>
				<div style={{fontSize: 56, opacity: rise, transform: `translateY(${(1 - rise) * 40}px)`}}>{title}</div>
			</AbsoluteFill>
			<div style={{position: 'absolute', bottom: 0, height: 8, width: `${width}%`, backgroundColor: 'white'}} />
		</AbsoluteFill>
	);
};
